import {
  EXIT,
  type PromoteResult,
  type PruneEntry,
  printable,
  type Session,
  type SessionTrial,
  type SessionWorktree,
  sensitiveWords,
  type Wire,
} from '../../engine/index.ts';
import { type Command, type Context, command } from '../command.ts';
import { facts, table } from '../print.ts';

/** A worktree with what the engine knows of its session. */
type Entry = Wire<SessionWorktree> & {
  session_id: string | null;
  task_id: string | null;
  title: string | null;
  state: Session['state'] | null;
};

interface Pruned {
  repository: string;
  base: string;
  entries: Wire<PruneEntry>[];
  warnings: string[];
  removed: { branch: string; saved_refs: string[] }[];
  refused: { branch: string; reasons: string[] }[];
}

type Promoted = Wire<PromoteResult> & {
  session_id: string;
  branch: string;
  removed: boolean;
  kept: string[];
  warnings: string[];
};

const words = (entry: Entry): string =>
  [
    entry.unreadable === null ? null : 'unreadable',
    entry.state !== null && entry.state !== 'ended' ? entry.state : null,
    entry.dirty || entry.untracked ? 'dirty' : null,
    entry.merged ? 'merged' : null,
    entry.orphan ? 'orphan' : null,
  ]
    .filter((word) => word !== null)
    .join(' ') || 'clean';

const sessionArg = [
  { name: 'session', about: 'session id, or a unique prefix', completes: 'session' },
] as const;

const intoFlag = { type: 'string', value: 'branch', about: 'into this branch' } as const;

const warn = ({ note }: Pick<Context, 'note'>, warnings: readonly string[]): void => {
  for (const each of warnings) note(`warning: ${printable(each)}`);
};

const list = command({
  name: 'worktree list',
  about: 'list session worktrees and branches',
  flags: {
    project: { type: 'string', about: 'only this project' },
    base: { type: 'string', value: 'branch', about: 'compare with this branch' },
  },
  async run(context) {
    const { project, base } = context.flags;
    const client = await context.engine();
    const entries = await client.call<Entry[]>('worktree.list', {
      ...(project === undefined ? {} : { project }),
      ...(base === undefined ? {} : { base }),
    });
    const text = await table(
      entries,
      [
        { head: 'session', value: (each) => each.session_id },
        { head: 'task', value: (each) => each.task_id },
        { head: 'branch', value: (each) => each.branch },
        { head: 'state', value: words },
        { head: 'ahead', value: (each) => each.ahead, right: true },
        { head: 'behind', value: (each) => each.behind, right: true },
        { head: 'title', value: (each) => each.title, flexible: true },
      ],
      context.stdout,
    );
    context.result(entries, () => text);
    if (entries.length === 0) context.note('no session worktrees');
  },
});

const diff = command({
  name: 'worktree diff',
  about: 'show what a session changed since its base',
  args: sessionArg,
  flags: { stat: { type: 'boolean', about: 'only commits and files' } },
  async run(context) {
    const client = await context.engine();
    const shown = await client.call<{
      commits: { id: string; subject: string; author: string }[];
      files: { path: string; insertions: number; deletions: number }[];
      patch: { text: string; truncated: boolean };
    }>('worktree.diff', { session: context.args[0], ...(context.flags.stat ? { max_bytes: 0 } : {}) });
    context.result(shown, ({ commits, files, patch }) =>
      [
        ...commits.map(
          (each) => `${each.id.slice(0, 10)} ${printable(each.subject)} (${printable(each.author)})`,
        ),
        ...files.map((each) => ` ${printable(each.path)}  +${each.insertions} -${each.deletions}`),
        ...(context.flags.stat ? [] : ['', printable(patch.text, { lines: true }).trimEnd()]),
        ...(patch.truncated && !context.flags.stat ? ['[the patch goes on]'] : []),
      ].join('\n'),
    );
  },
});

const trial = command({
  name: 'worktree trial',
  about: 'say whether promoting would go through; writes nothing',
  args: sessionArg,
  flags: { base: intoFlag },
  async run(context) {
    const { base } = context.flags;
    const client = await context.engine();
    const tried = await client.call<Wire<SessionTrial>>('worktree.trial', {
      session: context.args[0],
      ...(base === undefined ? {} : { base }),
    });
    context.result(tried, ({ checkout, ...each }) =>
      facts([
        ['promoting', `${each.branch} into ${each.base} ${verdict(each)}`],
        ['branch', `${each.head.slice(0, 10)}, ${each.ahead} ahead, ${each.behind} behind`],
        ['conflicts', each.conflicts.join(', ')],
        ['look at', sensitiveWords(each.sensitive) || null],
        ['checkout', checkout.path === null ? null : `${checkout.path} ${checkout.reason ?? 'is clean'}`],
      ]),
    );
    return tried.promotable ? 0 : EXIT.conflict;
  },
});

function verdict({ promotable, already_merged }: Pick<Wire<SessionTrial>, 'promotable' | 'already_merged'>) {
  if (!promotable) return 'would not go through';
  return already_merged ? 'would change nothing: its work is there already' : 'would go through';
}

const promote = command({
  name: 'worktree promote',
  about: "merge or rebase a session's branch into its base; fails closed on conflicts, never pushes",
  args: sessionArg,
  flags: {
    base: intoFlag,
    strategy: { type: 'string', about: 'how', choices: ['merge', 'rebase'] },
    keep: { type: 'boolean', about: 'keep the worktree and the branch' },
    head: { type: 'string', value: 'commit', about: 'only if the branch still ends there' },
  },
  async run(context) {
    const { base, strategy, keep, head } = context.flags;
    const client = await context.engine();
    const promoted = await client.call<Promoted>('worktree.promote', {
      session: context.args[0],
      ...(base === undefined ? {} : { base }),
      ...(strategy === undefined ? {} : { strategy }),
      ...(keep ? { keep } : {}),
      ...(head === undefined ? {} : { head }),
    });
    context.result(promoted, (each) =>
      facts([
        [
          'promoted',
          each.already_merged
            ? `${each.branch} was in ${each.base} already`
            : `${each.branch} into ${each.base} (${each.strategy})`,
        ],
        ['commit', `${each.before.slice(0, 10)} → ${each.after.slice(0, 10)}`],
        ['look at', sensitiveWords(each.sensitive) || null],
        ['checkout', each.checkout === 'updated' ? 'brought along' : null],
        ['worktree', each.removed ? 'removed' : `kept: ${each.kept.join('; ')}`],
      ]),
    );
    warn(context, promoted.warnings);
  },
});

const prune = command({
  name: 'worktree prune',
  about: 'remove worktrees whose work is merged; never unmerged or uncommitted work',
  flags: {
    project: { type: 'string', about: 'only this project' },
    base: { type: 'string', value: 'branch', about: 'merged means in this branch' },
    dryRun: { type: 'boolean', short: 'n', about: 'only say what would be removed' },
  },
  async run(context) {
    const { project, base, dryRun } = context.flags;
    const client = await context.engine();
    const results = await client.call<Pruned[]>('worktree.prune', {
      ...(project === undefined ? {} : { project }),
      ...(base === undefined ? {} : { base }),
      dry_run: dryRun,
    });
    context.result(results, (all) => {
      const lines = all.flatMap(({ entries, removed, refused }) => [
        ...(dryRun
          ? entries.filter((each) => each.action === 'remove').map((each) => `would remove ${each.branch}`)
          : []),
        ...removed.map(
          (each) =>
            `removed ${each.branch}${each.saved_refs.length === 0 ? '' : `, kept as ${each.saved_refs.join(', ')}`}`,
        ),
        ...entries
          .filter((each) => each.action === 'keep')
          .map((each) => `keeps ${each.branch}: ${each.reasons.join('; ')}`),
        ...refused.map((each) => `keeps ${each.branch}: ${each.reasons.join('; ')}`),
      ]);
      return lines.length === 0 ? 'nothing to prune' : printable(lines.join('\n'), { lines: true });
    });
    for (const { warnings } of results) warn(context, warnings);
  },
});

export const worktreeCommands: readonly Command[] = [list, diff, trial, promote, prune];
