import { toPrintable } from '../core/base/text.ts';
import { asObject, asText, listRows } from '../forge/index.ts';

/** A submitted review. */
export interface SubmittedReview {
  id: string;
  author: string;
  /** The author's relation to the repository, as the code host says: `OWNER`. */
  association: string;
  body: string;
}

/** A comment of a review on a line. */
export interface ReviewComment {
  path: string;
  side: 'new' | 'old';
  /** From 1; null for the file. */
  line: number | null;
  /** The line itself, as the review shows it. */
  text: string;
  body: string;
  head: string;
}

/** Reads submitted reviews that may want something; an approval without words does not. */
export const readReviews = (body: unknown): SubmittedReview[] =>
  listRows(body).flatMap(({ id, user, state, author_association: association, body: text }) => {
    const isSubmitted = state === 'COMMENTED' || state === 'CHANGES_REQUESTED';
    const { login } = asObject(user);
    if (!isSubmitted || !Number.isSafeInteger(id) || typeof login !== 'string') return [];
    return [
      {
        id: String(id),
        author: login,
        association: asText(association),
        body: toPrintable(asText(text), { lines: true }).trim(),
      },
    ];
  });

/** Reads the comments of a review: https://docs.github.com/en/rest/pulls/reviews */
export const readReviewComments = (body: unknown): ReviewComment[] =>
  listRows(body).map((row) => {
    const line = row.line ?? row.original_line;
    const hunk = asText(row.diff_hunk).split('\n').at(-1) ?? '';
    return {
      path: asText(row.path),
      side: row.side === 'LEFT' ? 'old' : 'new',
      line: Number.isSafeInteger(line) ? Number(line) : null,
      text: hunk.slice(1),
      body: toPrintable(asText(row.body), { lines: true }).trim(),
      head: asText(row.original_commit_id) || asText(row.commit_id),
    };
  });
