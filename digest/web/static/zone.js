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
  label.textContent = option ? option.text : field.value;
}

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
for (const field of document.querySelectorAll("input[name=timezone]")) {
  if (zone && field.hasAttribute("data-detect")) {
    field.value = zone;
    markSource(field, "browser");
  }
  showLabel(field);
  field.addEventListener("focus", () => field.select());
  field.addEventListener("input", () => {
    markSource(field, "reader");
    showLabel(field);
  });
}
