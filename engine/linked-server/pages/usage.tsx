/** @jsxImportSource hono/jsx */
import { formatTokenCount } from '../../core/base/text.ts';
import type { DayCounts } from '../../core/link-protocol/telemetry-day.ts';
import { cutListPage, type PageWish } from '../database/list-page.ts';
import type { UsageDay } from '../links/usage.ts';
import type { SignedIn } from '../people/people.ts';
import { Notice, Page, TableHead } from './layout.tsx';
import { PageLinks } from './page-links.tsx';

/** How far back a page can go, in days. */
export const USAGE_SPANS = [30, 90, 400] as const;

const BAR = { width: 10, gap: 2, height: 120 };

const sumOf = (counts: Partial<Record<string, number>>): number =>
  Object.values(counts).reduce<number>((sum, n) => sum + (n ?? 0), 0);

/** Runs of a day: how many succeeded, and how many ended otherwise. */
function sumRuns({ runs }: Pick<DayCounts, 'runs'>): { sealed: number; failed: number } {
  const all = sumOf(Object.fromEntries(Object.entries(runs).map(([preset, ends]) => [preset, sumOf(ends)])));
  const sealed = Object.values(runs).reduce((sum, ends) => sum + (ends.sealed ?? 0), 0);
  return { sealed, failed: all - sealed };
}

/** Renders runs by day as bars: successful ones at the bottom, the others on top. The table has the same numbers. */
export function RunsChart({ days }: { days: readonly UsageDay[] }) {
  const runs = days.map(({ counts }) => sumRuns(counts));
  const most = Math.max(0, ...runs.map(({ sealed, failed }) => sealed + failed));
  if (most === 0) return null;
  const width = days.length * (BAR.width + BAR.gap);
  const heightOf = (n: number): number => Math.round((n / most) * BAR.height);
  // One path for all bars of a kind: separate elements would be most of the page.
  const drawBars = (barOf: (of: (typeof runs)[number]) => { height: number; above: number }): string =>
    runs
      .map((of, index) => ({ ...barOf(of), x: index * (BAR.width + BAR.gap) }))
      .filter(({ height }) => height > 0)
      .map(({ x, height, above }) => `M${x} ${BAR.height - above}v-${height}h${BAR.width}v${height}z`)
      .join('');
  return (
    <figure>
      <svg
        class="chart"
        role="img"
        aria-label={`Runs by the day: ${most} on the busiest of ${days.length} days. The table below has the numbers.`}
        viewBox={`0 0 ${width} ${BAR.height}`}
        preserveAspectRatio="none"
        width="100%"
        height={BAR.height}
      >
        <path class="sealed" d={drawBars(({ sealed }) => ({ height: heightOf(sealed), above: 0 }))} />
        <path
          class="failed"
          d={drawBars(({ sealed, failed }) => ({ height: heightOf(failed), above: heightOf(sealed) }))}
        />
      </svg>
      <figcaption>
        <span class="key sealed">sealed</span>
        <span class="key failed">failed</span>
        {`Runs by the day, ${most} on the busiest`}
      </figcaption>
    </figure>
  );
}

/** Selects days with figures, the newest first. */
export const listToldDays = (days: readonly UsageDay[]): UsageDay[] =>
  days.filter(({ workspaces }) => workspaces > 0).reverse();

/** Renders days as numbers. */
export function UsageTable({ days }: { days: readonly UsageDay[] }) {
  if (days.length === 0) return <p>No figures were received for these days.</p>;
  return (
    <table>
      <TableHead columns={['Day (UTC)', 'Tasks', 'Decisions', 'Runs', 'Tokens', 'Workspaces']} />
      <tbody>
        {days.map(({ day, counts, workspaces }) => {
          const { approved = 0, denied = 0, expired = 0 } = counts.decisions;
          const { sealed, failed } = sumRuns(counts);
          return (
            <tr>
              <td data-label="Day (UTC)">
                <time datetime={day}>{day}</time>
              </td>
              <td data-label="Tasks">{sumOf(counts.tasks)}</td>
              <td data-label="Decisions">{`${approved} approved, ${denied} denied, ${expired} expired`}</td>
              <td data-label="Runs">{`${sealed} sealed, ${failed} failed`}</td>
              <td data-label="Tokens">{formatTokenCount(sumOf(counts.tokens))}</td>
              <td data-label="Workspaces">{workspaces}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** Shows the figures of an account's workspaces. */
export function UsagePage({
  signedIn,
  days,
  wish,
  said,
}: {
  signedIn: SignedIn;
  days: readonly UsageDay[];
  /** The page of the table. */
  wish: PageWish;
  said?: string | null;
}) {
  const told = listToldDays(days);
  const shown = cutListPage(told, ({ day }) => day, wish);
  return (
    <Page title="Usage" path="/app/usage" signedIn={signedIn}>
      <Notice said={said ?? null} />
      <p>
        Daily counts of workspaces with telemetry: numbers under terms that svc knows, without any name that a
        person has given. <code>svc telemetry show</code> shows what a workspace sends;{' '}
        <code>svc telemetry off</code> stops it.
      </p>
      <ul class="row plain">
        {USAGE_SPANS.map((span) => (
          <li>
            <a
              href={`/app/usage?days=${span}`}
              {...(span === days.length ? { 'aria-current': 'page' as const } : {})}
            >
              {`${span} days`}
            </a>
          </li>
        ))}
      </ul>
      <RunsChart days={days} />
      <UsageTable days={shown.rows} />
      <PageLinks
        page={shown}
        path="/app/usage"
        names={{ previous: 'Newer days', next: 'Older days' }}
        query={{ days: String(days.length) }}
      />
      {told.length > 0 && signedIn.person.role === 'admin' ? (
        <p>
          <a href="/app/usage/delete">Delete these figures</a>
        </p>
      ) : null}
    </Page>
  );
}
