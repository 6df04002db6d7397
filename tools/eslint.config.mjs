// Lint of the page's scripts: make lint-js runs it where npm is.
const names = (...list) => Object.fromEntries(list.map((name) => [name, "readonly"]));

export default [
  {
    languageOptions: {
      ecmaVersion: 2023,
      sourceType: "module",
      globals: names(
        "document", "window", "location", "performance", "matchMedia", "getComputedStyle", "addEventListener", "atob",
        "requestAnimationFrame", "cancelAnimationFrame", "setTimeout", "clearTimeout", "ResizeObserver", "URLSearchParams",
      ),
    },
    rules: {
      "no-undef": "error",
      "no-unused-vars": "error",
      "prefer-const": "error",
      eqeqeq: "error",
      "no-restricted-properties": ["error", { property: "innerHTML" }, { property: "outerHTML" }, { property: "insertAdjacentHTML" }],
      "no-eval": "error",
    },
  },
];
