// The natural-language part of a comment, a string or a paragraph: without code, names, addresses and quotes.

const DROPPED: readonly RegExp[] = [
  // Code and quotes.
  /`[^`\n]*`/gu,
  /"[^"\n]{1,200}"|“[^”\n]{1,200}”|«[^»\n]{1,200}»|„[^“”\n]{1,200}[“”]/gu,
  /(?<![\p{L}\d])'[^'\n]{1,200}'(?!\p{L})/gu,
  // Addresses and paths.
  /\b[a-z][a-z\d+.-]*:\/\/\S+/giu,
  /[^\s@]+@[^\s@]+/gu,
  /(?:[\w.~-]*\/){1,}[\w.-]*/gu,
  // Markup and placeholders.
  /<[^<>\n]{1,200}>|\$?\{[^{}\n]*\}|%[sdifoj]|&\w+;/gu,
  // Tags of documentation comments with their types and names.
  /@\w+(?:\s+\{[^}]*\})?(?:\s+[\w.[\]]+(?=\s+-))?/gu,
  // Names in code: parts joined by points, capitals or underscores, and words with digits.
  /\b\w+(?:[._:]\w+)+\b(?:\(\))?|\b\w*\d\w*\b|\b[a-z]+[A-Z]\w*\b|\b(?:[A-Z][a-z]+){2,}\b|\b[A-Z]{2,}\b|\b\w+\(\)/gu,
  // Options of commands.
  /(?<!\S)--?[a-z][\w-]*/giu,
];

/** Removes the parts of a text that are in no language. */
export function keepPlainText(text: string): string {
  let left = text;
  for (const pattern of DROPPED) left = left.replace(pattern, ' ');
  return left.replace(/\s+/gu, ' ').trim();
}
