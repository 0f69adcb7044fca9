import { formatCount, toPrintable } from '../../core/base/text.ts';
import type { LanguageFinding } from './language/check-language.ts';
import { hasNearLanguages } from './language/near-languages.ts';

let names: Intl.DisplayNames | undefined;

function nameLanguage(code: string): string {
  // Takes 10 ms, and every command loads this file.
  names ??= new Intl.DisplayNames(['en'], { type: 'language' });
  return names.of(code) ?? code;
}

/** Names a language, with a note if it is indistinguishable from another. */
const nameFound = (code: string): string =>
  `${nameLanguage(code)}${hasNearLanguages(code) ? ' or a related language' : ''}`;

/** Describes a text in another language in one line: `src/a.ts:4: the comment is German, but the project writes English: “…”`. */
export const describeLanguage = ({
  path,
  line,
  kind,
  found,
  wanted,
  excerpt,
}: Omit<LanguageFinding, 'isAdvice'>): string =>
  toPrintable(
    `${path}:${line}: ${kind === 'prose' ? 'the text' : `the ${kind}`} is ${nameFound(found)}, but the project writes ${nameLanguage(wanted)}: “${excerpt}”`,
  );

const MOST_TOLD = 5;

/** Writes the message for an agent about texts in another language that it is about to write. */
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
