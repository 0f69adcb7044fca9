/** @jsxImportSource hono/jsx */
import type { ListPage } from '../database/list-page.ts';

/** The ways to the pages of a list beside this one; nothing where it has one page only. */
export function PageLinks({
  page: { previous, next },
  path,
  names,
  query = {},
}: {
  page: Pick<ListPage<unknown>, 'previous' | 'next'>;
  path: string;
  /** What they lead to, said in full, since a link may be heard without what stands around it. */
  names: { previous: string; next: string };
  /** What else the address of the page says. */
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
