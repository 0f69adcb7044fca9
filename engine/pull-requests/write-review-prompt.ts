import { cutToWidth, toPrintable } from '../core/base/text.ts';
import type { ReviewComment, SubmittedReview } from '../forge/index.ts';
import type { FollowUpPrompt } from './write-red-prompt.ts';

/** A review with its comments on lines. */
export interface WholeReview extends SubmittedReview {
  comments: readonly ReviewComment[];
}

const LONGEST_QUOTE = 200;
const LONGEST_NAME = 60;
/** More than that would be refused as a prompt at once. */
const MOST_CHARACTERS = 100_000;

const cut = (text: string, width: number): string =>
  cutToWidth(toPrintable(text), width, (each) => each.length);

function writeComment({ path, line, side, text, body, head }: ReviewComment, current: string): string {
  const notes = [
    ...(side === 'old' ? ['a line that you removed or changed'] : []),
    ...(head !== '' && head !== current ? [`on an older version, ${head.slice(0, 10)}`] : []),
  ];
  const place = `${toPrintable(path)}${line === null ? '' : `:${line}`}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`;
  const quote = text === '' ? '' : `> ${cut(text, LONGEST_QUOTE)}\n`;
  return `${place}\n${quote}${body}`;
}

/** Writes the follow-up of reviews by people who may ask for changes. */
export function writeReviewPrompt(
  reviews: readonly WholeReview[],
  { reference, head, former }: { reference: string; head: string; former: string },
): FollowUpPrompt {
  const names = [...new Set(reviews.map(({ author }) => cut(author, LONGEST_NAME)))].join(', ');
  const count = reviews.reduce((sum, { comments }) => sum + comments.length, 0);
  const size = count === 0 ? '' : `, ${count === 1 ? 'one comment' : `${count} comments`} on lines`;
  const text = [
    `Deal with the review of your pull request ${reference} by ${names}: change what it asks for, or explain in your report why not. Run the tests, and commit.`,
    ...reviews.flatMap(({ body, comments }) => [
      ...(body === '' ? [] : [body]),
      ...comments.map((each) => writeComment(each, head)),
    ]),
  ].join('\n\n');
  return {
    title: `review by ${names}: ${former}`,
    prompt:
      text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS).toWellFormed()}\n\n(cut)`,
    why: `${names} reviewed ${reference}${size}`,
  };
}
