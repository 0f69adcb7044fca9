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

/** Cells that do not say what they are where a table is stacked: each has the head of its column, the one for buttons none. */
function listUnnamedCells(text: string): string[] {
  const faults: string[] = [];
  for (const [table] of text.matchAll(/<table>.*?<\/table>/gs)) {
    const heads = [...table.matchAll(/<th scope="col">(.*?)<\/th>/g)].map(([, head]) => head ?? '');
    for (const [, row = ''] of table.matchAll(/<tr>((?:<td.*?)+)<\/tr>/gs)) {
      const labels = [...row.matchAll(/<td(?: data-label="(.*?)")?>/g)].map(([, label]) => label);
      const expected = heads.map((head) => (head.startsWith('<span>') ? undefined : head));
      if (labels.join('|') !== expected.join('|'))
        faults.push(`cells are called ${labels.join(', ')} and not ${expected.join(', ')}`);
    }
  }
  return faults;
}

/** What is wrong with a page, a line each: by the rules of HTML and accessibility, and scripts or inline styles. */
export async function listPageFaults(text: string): Promise<string[]> {
  const { results } = await validator.validateString(text);
  const faults = [
    ...results.flatMap(({ messages }) => messages.map(({ ruleId, message }) => `${ruleId}: ${message}`)),
    ...listUnnamedCells(text),
  ];
  return /<script|style="|\son\w+="/.test(text) ? [...faults, 'it has a script or an inline style'] : faults;
}
