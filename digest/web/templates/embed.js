// The sign-up form of this brief for any page: <script src="…/embed.js" async></script>
// It stands where the script does, or in the element that data-target names (a CSS selector); data-language is en or zh.
// It looks like the page around it: .daily-brief-form is the form, .daily-brief-answer what it says.
(function (settings) {
  "use strict";
  const script = document.currentScript;
  const place = script && script.dataset.target ? document.querySelector(script.dataset.target) : script;
  if (!place) return;
  const asked = (script.dataset.language || document.documentElement.lang || navigator.language || "").toLowerCase();
  const language = asked.startsWith("zh") ? "zh" : "en";
  const words = settings.words[language];
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

  function make(tag, properties, children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...(children || []));
    return element;
  }

  const email = make("input", { type: "email", name: "email", required: true, maxLength: 254, autocomplete: "email" });
  const answer = make("p", { className: "daily-brief-answer" });
  answer.setAttribute("role", "status");
  const hidden = { language: language, source: settings.source };
  if (zone) Object.assign(hidden, { timezone: zone, timezone_from: "browser" });
  const form = make(
    "form",
    { className: "daily-brief-form", method: "post", action: settings.base + "/subscribe?lang=" + language },
    [
      make("label", {}, [words.label + " ", email]),
      ...Object.entries(hidden).map(([name, value]) => make("input", { type: "hidden", name: name, value: value })),
      " ",
      make("button", { type: "submit" }, [words.button]),
      answer,
    ],
  );
  form.lang = language === "zh" ? "zh-Hans" : "en";
  // Who reads the page stays on it, where the answer is another page.
  form.target = "_blank";
  place === script ? script.after(form) : place.append(form);

  let doubted = "";

  function say(text) {
    answer.textContent = text;
  }

  async function tell(reply) {
    const told = await reply.json();
    if (reply.status === 202) {
      form.replaceChildren(answer);
      say(words.asked + " " + words.first + " " + told.next_brief);
    } else if (reply.status === 422) {
      doubted = email.value;
      say(told.message || told.detail);
      email.focus();
    } else {
      say(words.later);
    }
  }

  async function send() {
    const fields = Object.fromEntries(new FormData(form));
    if (doubted === fields.email) fields.email_checked = doubted;
    const reply = await fetch(settings.base + "/api/v1/subscriptions?lang=" + language, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      credentials: "omit",
      body: JSON.stringify(fields),
    });
    await tell(reply);
  }

  form.addEventListener("submit", (event) => {
    if (!settings.sends) return;
    event.preventDefault();
    // A site that the brief's settings do not name may not read the answer: then the browser opens our page.
    send().catch(() => form.submit());
  });
})({{ settings|tojson }});
