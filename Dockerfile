# Small: what builds stays in the first stage. Reproducible: every package by version and hash, bytecode by content; pin
# the base by digest in a registry of your own: docker build --build-arg PYTHON=python:3.13-slim@sha256:… .
ARG PYTHON=python:3.13-slim

FROM ${PYTHON} AS build
# requirements-extras.lock adds what error reports and traces need.
ARG LOCK=requirements-runtime.lock
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PYTHONHASHSEED=0 SOURCE_DATE_EPOCH=0
WORKDIR /source
RUN python -m venv --without-pip /opt/digest
COPY ${LOCK} requirements.lock
RUN pip --python /opt/digest/bin/python install --no-compile --no-deps --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY digest digest
COPY workers workers
COPY emails emails
RUN pip --python /opt/digest/bin/python install --no-compile --no-deps --no-build-isolation . \
    && python -m compileall -q --invalidation-mode unchecked-hash /opt/digest/lib

FROM ${PYTHON}
# Time zones come from the pinned tzdata package, never from the image's own copy.
ENV PATH=/opt/digest/bin:$PATH PYTHONTZPATH="" PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
RUN useradd --system --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin digest \
    && install --directory --owner=digest /var/lib/digest
COPY --from=build /opt/digest /opt/digest
USER 10001:10001
WORKDIR /var/lib/digest
EXPOSE 8025
STOPSIGNAL SIGTERM
ENTRYPOINT ["digest"]
CMD ["web", "--host", "0.0.0.0"]
