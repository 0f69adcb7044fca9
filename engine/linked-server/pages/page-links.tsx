/** @jsxImportSource hono/jsx */
import type { ListPage } from '../database/list-page.ts';

/** Links to the other pages of a list; nothing if it has one page only. */
export function PageLinks({
  page: { previous, next },
  path,
  names,
  query = {},
}: {
  page: Pick<ListPage<unknown>, 'previous' | 'next'>;
  path: string;
  /** The full name of their target, since a link may be read aloud without its context. */
  names: { previous: string; next: string };
  /** Other parameters of the page's address. */
  query?: Readonly<Record<string, string>>;
}) {
  if (previous === null && next === null) return null;
  const addressOf = (place: Record<string, string>): string =>
    `${path}?${new URLSearchParams({ ...query, ...place })}`;
  return (
    <nav aria-label="More of this list">
      <ul class="row">
        {previous === null ? null : (
          <li>
            <a rel="prev" href={addressOf({ before: previous })}>
              {names.previous}
            </a>
          </li>
        )}
        {next === null ? null : (
          <li>
            <a rel="next" href={addressOf({ after: next })}>
              {names.next}
            </a>
          </li>
        )}
      </ul>
    </nav>
  );
}
