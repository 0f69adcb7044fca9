import { formatCount, toPrintable } from '../../core/base/text.ts';
import type { LanguageFinding } from './language/check-language.ts';
import { hasNearLanguages } from './language/detect.ts';

const NAMES = new Intl.DisplayNames(['en'], { type: 'language' });

const nameLanguage = (code: string): string => NAMES.of(code) ?? code;

/** Some languages cannot be told from each other. */
const nameFound = (code: string): string =>
  `${nameLanguage(code)}${hasNearLanguages(code) ? ' or a related language' : ''}`;

/** Says in a line what is in another language: `src/a.ts:4: the comment is German, and the project writes English: “…”`. */
export const describeLanguage = ({ path, line, kind, found, wanted, excerpt }: LanguageFinding): string =>
  toPrintable(
    `${path}:${line}: ${kind === 'prose' ? 'the text' : `the ${kind}`} is ${nameFound(found)}, but the project writes ${nameLanguage(wanted)}: “${excerpt}”`,
  );

const MOST_TOLD = 5;

/** What an agent is told of texts in another language before it writes them. */
export function tellOfLanguages(findings: readonly LanguageFinding[], isDenied: boolean): string {
  const told = findings.slice(0, MOST_TOLD).map(describeLanguage);
  const more = findings.length - told.length;
  const left =
    more > 0 ? [`${formatCount(more, 'more text is', 'more texts are')} in another language.`] : [];
  const next = isDenied
    ? 'Nothing was written. Write these texts in the language of the project; put text that must stay in another one, such as a quote, in quotes.'
    : 'Write these texts in the language of the project, unless they must be in another one.';
  return [...told, ...left, next].join('\n');
}
