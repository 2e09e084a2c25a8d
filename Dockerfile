FROM python:3.13-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /source
RUN python -m venv /opt/digest
COPY requirements-runtime.lock ./
RUN /opt/digest/bin/pip install --require-hashes -r requirements-runtime.lock
COPY pyproject.toml README.md LICENSE ./
COPY digest digest
COPY workers workers
COPY emails emails
RUN /opt/digest/bin/pip install --no-deps --no-build-isolation .

FROM python:3.13-slim
# Time zones come from the pinned tzdata package, never from the image's own copy.
ENV PATH=/opt/digest/bin:$PATH PYTHONTZPATH="" PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin digest \
    && install --directory --owner=digest /var/lib/digest
COPY --from=build /opt/digest /opt/digest
USER digest
WORKDIR /var/lib/digest
EXPOSE 8025
STOPSIGNAL SIGTERM
ENTRYPOINT ["digest"]
CMD ["web", "--host", "0.0.0.0"]
