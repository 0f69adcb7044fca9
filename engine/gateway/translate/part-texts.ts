import type { ContentPart, ResultPart } from './conversation.ts';

/** Returns the texts of parts joined with an empty line. */
export const joinTexts = (parts: readonly ContentPart[]): string =>
  parts.flatMap((part) => (part.kind === 'text' || part.kind === 'refusal' ? part.text : [])).join('\n\n');

/** Returns the text of a failed call, for protocols without a field for a failure. */
export const markError = (text: string): string =>
  /^\W*\w{0,20}error/i.test(text) ? text : `Error: ${text}`;

/** Returns the text of a result, for protocols without a field for a failure. */
export function describeResult({ content, isError }: ResultPart): string {
  const text = joinTexts(content);
  return isError ? markError(text) : text;
}
