import { formatCount } from '../../../engine/index.ts';
import { parseOlder } from '../../arguments/older.ts';
import { type Command, defineCommand } from '../../command.ts';
import { formatRows } from '../../print.ts';

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const;

function formatSize(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log(bytes) / Math.log(1000)));
  const amount = bytes / 1000 ** step;
  return `${step === 0 || amount >= 10 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[step]}`;
}

const formatAgeOf = (ms: number | null): string => {
  if (ms === null) return 'never';
  return ms < 86_400_000
    ? formatCount(Math.round(ms / 3_600_000), 'hour')
    : formatCount(Math.round(ms / 86_400_000), 'day');
};

const clean = defineCommand({
  name: 'clean',
  about: 'remove what is over and settled: old events, ended tasks, logs, saved commits; nothing unmerged',
  flags: {
    older: {
      type: 'string',
      value: 'age',
      about: 'all that is older, such as 90d (what the retain keys say)',
    },
    dryRun: { type: 'boolean', short: 'n', about: 'only say what would go' },
  },
  examples: ['clean --dry-run', 'clean --older 90d'],
  async run(context) {
    const { older, dryRun } = context.flags;
    const client = await context.engine();
    const cleaning = await client.call('data.clean', {
      ...(older === undefined ? {} : { older_sec: parseOlder(older) }),
      dry_run: dryRun,
    });
    const { kinds, database, shrinks } = cleaning;
    const text = await formatRows(
      kinds,
      [
        { head: 'what', value: ({ label }) => label },
        { head: 'older than', value: ({ age_ms }) => formatAgeOf(age_ms), right: true },
        { head: dryRun ? 'would go' : 'removed', value: ({ count }) => count, right: true },
        {
          head: 'about',
          value: ({ bytes, key }) => (/refs|discarded/.test(key) ? '-' : formatSize(bytes)),
          right: true,
        },
      ],
      context.stdout,
    );
    context.result(cleaning, () => text);
    if (database !== null && database.before !== database.after)
      context.note(`the database went from ${formatSize(database.before)} to ${formatSize(database.after)}`);
    if (!shrinks)
      context.note(
        'the database was made by an earlier svc and stays as large as it is; what is freed in it is used again',
      );
  },
});

export const cleanCommands: readonly Command[] = [clean];
