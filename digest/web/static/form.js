// The browser knows the reader's time zone; without this script the form shows the site's own and says so.
"use strict";

function markSource(field, word) {
  const source = field.form.elements.namedItem("timezone_from");
  if (source) source.value = word;
}

function showLabel(field) {
  const label = field.form.querySelector("[data-zone-label]");
  if (!label || !field.list) return;
  const option = Array.from(field.list.options).find((choice) => choice.value === field.value);
  label.textContent = option ? option.textContent : "";
}

// What the form means in the reader's own days is for the server to say: its time zones are the ones that count.
async function showFirstBrief(form) {
  const place = form.querySelector("[data-first-brief]");
  if (!place) return;
  const asked = new URL(place.dataset.firstBrief, location.href);
  for (const name of ["timezone", "time", "weekdays"]) {
    for (const value of new FormData(form).getAll(name)) asked.searchParams.append(name, value);
  }
  place.dataset.asked = asked.href;
  const answer = await fetch(asked, { headers: { Accept: "application/json" } }).catch(() => null);
  if (!answer || !answer.ok || place.dataset.asked !== asked.href) return;
  const told = await answer.json();
  place.querySelector("output").textContent = told.next_brief;
  place.hidden = false;
  const label = form.querySelector("[data-zone-label]");
  if (label) label.textContent = told.label;
}

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
for (const field of document.querySelectorAll("input[name=timezone]")) {
  if (zone && field.hasAttribute("data-detect")) {
    field.value = zone;
    markSource(field, "browser");
    showFirstBrief(field.form);
  }
  showLabel(field);
  field.addEventListener("focus", () => field.select());
  field.addEventListener("input", () => {
    markSource(field, "reader");
    showLabel(field);
  });
  field.form.addEventListener("change", () => showFirstBrief(field.form));
}
