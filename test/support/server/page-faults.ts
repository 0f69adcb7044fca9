import { HtmlValidate } from 'html-validate';

const validator = new HtmlValidate({
  extends: ['html-validate:recommended', 'html-validate:a11y'],
  // Style rules about markup concern the HTML library, not the pages.
  rules: {
    'doctype-style': 'off',
    'void-style': 'off',
    'attribute-boolean-style': 'off',
    // The rule counts escaped characters.
    'long-title': 'off',
  },
});

/**
 * Returns cells without a label in tables that stack on small screens: each cell needs its column's heading, except
 * the cell with buttons.
 */
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

/**
 * Returns the faults of a page, one a line: violations of HTML and accessibility rules, scripts, and inline styles.
 */
export async function listPageFaults(text: string): Promise<string[]> {
  const { results } = await validator.validateString(text);
  const faults = [
    ...results.flatMap(({ messages }) => messages.map(({ ruleId, message }) => `${ruleId}: ${message}`)),
    ...listUnnamedCells(text),
  ];
  return /<script|style="|\son\w+="/.test(text) ? [...faults, 'it has a script or an inline style'] : faults;
}
