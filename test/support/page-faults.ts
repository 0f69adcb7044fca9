import { HtmlValidate } from 'html-validate';

const validator = new HtmlValidate({
  extends: ['html-validate:recommended', 'html-validate:a11y'],
  // How HTML is written by its library says nothing about the pages.
  rules: {
    'doctype-style': 'off',
    'void-style': 'off',
    'attribute-boolean-style': 'off',
    // It counts characters as they are escaped.
    'long-title': 'off',
  },
});

/** What is wrong with a page, a line each: by the rules of HTML and accessibility, and scripts or inline styles. */
export async function listPageFaults(text: string): Promise<string[]> {
  const { results } = await validator.validateString(text);
  const faults = results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message }) => `${ruleId}: ${message}`),
  );
  return /<script|style="|\son\w+="/.test(text) ? [...faults, 'it has a script or an inline style'] : faults;
}
