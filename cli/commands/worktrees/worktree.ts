import { asSvcError, type ErrorCode, EXIT, SvcError, toExitCode } from '../../../engine/core/base/errors.ts';
import { formatCount, quoteForShell, toPrintable } from '../../../engine/core/base/text.ts';
import {
  type Api,
  describeSensitive,
  formatImpact,
  PROMOTE_STRATEGIES,
  type PruneEntry,
  type SessionTrial,
  type WireValue,
  WORKTREE_STATES,
  type WorktreeState,
} from '../../../engine/index.ts';
import { warnOfUnseen } from '../../arguments/prompt.ts';
import { type Command, type CommandContext, defineCommand, repeatArgument } from '../../command.ts';
import { definePageFlags, outputFlags, showPage } from '../../pages.ts';
import { findStateStyle, type PaintFunction, paintPatch } from '../../paint.ts';
import { formatFacts } from '../../print.ts';
import { defineSessionArgument } from '../../sessions/session-argument.ts';
import { editMessage, orKeepMessage, requireEditingTerminal } from './promote-message.ts';
import { edit, shell } from './worktree-enter.ts';
import { fetchBranch } from './worktree-fetch.ts';
import { openCheckout } from './worktree-open.ts';
import { pullRequest } from './worktree-pr.ts';
import { runCommandInWorktree } from './worktree-run.ts';
import { gitSettings } from './worktree-settings.ts';

/** Explains why something of a repository could not be read. */
interface Unread {
  code: ErrorCode;
  message: string;
  hint: string | null;
}

/** A worktree with what the engine knows about its session. */
type Listing = Api['worktree.status']['output'];
type Entry = Listing['worktrees'][number];

/** States that a list omits or shows differently. */
const UNSAID: readonly WorktreeState[] = ['unmerged', 'live', 'clean'];

const formatStates = ({ state, states, commits }: Entry): string =>
  [
    ...(state !== null && state !== 'ended' ? [state] : []),
    // A branch without commits is in its base, but no one has merged it.
    ...states
      .filter((each) => !UNSAID.includes(each))
      .map((each) => (each === 'merged' && commits === 0 ? 'no commits' : each)),
  ].join(' ') || (states.includes('clean') ? 'clean' : '');

/** Prints what could not be read; returns the exit code for it, or 0. */
function reportProblems(
  { note }: Pick<CommandContext, 'note'>,
  problems: readonly (Unread & { repository: string })[],
): number {
  for (const { repository, message, hint } of problems)
    note(
      toPrintable(`${repository} could not be read: ${message}${hint === null ? '' : `\n  ${hint}`}`, {
        lines: true,
      }),
    );
  return problems.length === 0 ? 0 : toExitCode(problems[0]!.code);
}

const sessionArg = defineSessionArgument('session');

const intoFlag = { type: 'string', value: 'branch', about: 'into this branch' } as const;

const noteWarnings = ({ note }: Pick<CommandContext, 'note'>, warnings: readonly string[]): void => {
  for (const each of warnings) note(`warning: ${toPrintable(each)}`);
};

/** A branch, with its repository if the next row is the same branch of another one. */
const getWorktreeCursor = ({ branch, repository }: Entry, rows: readonly Entry[]): string =>
  rows.filter((each) => each.branch === branch).length > 1 ? `${branch}:${repository}` : branch;

const list = defineCommand({
  name: 'worktree list',
  about: 'list session worktrees and branches',
  flags: {
    project: { type: 'string', about: 'only this project' },
    base: { type: 'string', value: 'branch', about: 'compare with this branch' },
    state: { type: 'string', about: 'only in this state', choices: WORKTREE_STATES },
    ...definePageFlags(100),
  },
  examples: ['worktree list', 'worktree list --project api'],
  async run(context) {
    const { project, base, state } = context.flags;
    const client = await context.engine();
    let found: Listing = { worktrees: [], total: 0, problems: [] };
    await showPage(context, {
      standard: 100,
      async fetch(part) {
        found = await client.call('worktree.status', {
          ...(project === undefined ? {} : { project }),
          ...(base === undefined ? {} : { base }),
          ...(state === undefined ? {} : { state }),
          ...part,
        });
        return found.worktrees;
      },
      count: async () => found.total,
      getId: getWorktreeCursor,
      columns: [
        { head: 'session', value: (each) => each.session_id },
        { head: 'task', value: (each) => each.task_id },
        { head: 'branch', value: (each) => each.branch },
        { head: 'state', value: formatStates, style: (each) => findStateStyle(formatStates(each)) },
        { head: 'ahead', value: (each) => each.ahead ?? '?', right: true },
        { head: 'behind', value: (each) => each.behind ?? '?', right: true },
        { head: 'title', value: (each) => each.title, flexible: true },
      ],
      empty: () =>
        found.problems.length > 0
          ? null
          : state === undefined
            ? 'no session worktrees'
            : `no session worktrees that are ${state}`,
    });
    for (const { branch, unreadable } of found.worktrees)
      if (unreadable !== null) context.note(toPrintable(`${branch}: ${unreadable}`));
    return reportProblems(context, found.problems);
  },
});

function warnOfPatch(patch: string, paint: PaintFunction): string[] {
  const warning = warnOfUnseen('the patch', patch);
  return warning === null ? [] : ['', paint('bad', warning)];
}

export const diffCommand = defineCommand({
  name: 'worktree diff',
  about: 'show what a session changed since its base',
  args: sessionArg,
  flags: { stat: { type: 'boolean', about: 'only commits and files' }, ...outputFlags },
  examples: [
    'worktree diff s-12',
    'worktree diff s-12 --stat',
    'worktree diff s-12 --color always | less -R',
  ],
  async run(context) {
    const { paint } = context;
    const client = await context.engine();
    const shown = await client.call('worktree.diff', {
      session: context.arg(0),
      ...(context.flags.stat ? { max_bytes: 0 } : {}),
    });
    context.result(shown, ({ commits, files, patch, base, branch }) =>
      [
        ...commits.map(
          (each) =>
            `${paint('warn', each.id.slice(0, 10))} ${toPrintable(each.subject)} (${toPrintable(each.author)})`,
        ),
        ...files.map(
          (each) =>
            ` ${toPrintable(each.path)}  ${paint('good', `+${each.insertions}`)} ${paint('bad', `-${each.deletions}`)}`,
        ),
        ...(context.flags.stat
          ? []
          : [
              ...warnOfPatch(patch.text, paint),
              '',
              paintPatch(toPrintable(patch.text, { lines: true }).trimEnd(), paint),
            ]),
        ...(patch.truncated && !context.flags.stat
          ? [
              `[only the first ${formatCount(patch.text.length, 'character')} of the patch; git diff ${base}...${branch} prints all of it]`,
            ]
          : []),
      ].join('\n'),
    );
  },
});

const trial = defineCommand({
  name: 'worktree trial',
  about: 'check whether promoting would go through; writes nothing',
  args: sessionArg,
  flags: { base: intoFlag },
  examples: ['worktree trial s-12'],
  async run(context) {
    const { base } = context.flags;
    const client = await context.engine();
    const tried = await client.call('worktree.trial', {
      session: context.arg(0),
      ...(base === undefined ? {} : { base }),
    });
    // The trial was requested: it is useful without the impact too.
    const impact = await client
      .call('impact', { session: tried.session_id })
      .then(formatImpact)
      .catch((error: unknown) => `unknown: ${asSvcError(error).message}`);
    context.result({ ...tried, impact }, ({ checkout, ...each }) =>
      formatFacts([
        ['promoting', `${each.branch} into ${each.base} ${describeVerdict(each)}`],
        ['branch', `${each.head.slice(0, 10)}, ${each.ahead} ahead, ${each.behind} behind`],
        ['why', each.refused?.message ?? null],
        ['instead', each.refused?.hint ?? null],
        ['conflicts', each.conflicts.join(', ')],
        ['check', describeSensitive(each.sensitive) || null],
        ['impact', toPrintable(impact)],
        ['checkout', checkout.path === null ? null : `${checkout.path} ${checkout.reason ?? 'is clean'}`],
      ]),
    );
    if (tried.conflicts.length > 0)
      context.note(
        `svc worker follow-up ${tried.session_id} --conflicts${base === undefined ? '' : ` --base ${quoteForShell(base)}`} has its worker resolve them`,
      );
    return tried.promotable ? 0 : EXIT.conflict;
  },
});

function describeVerdict({
  promotable,
  already_merged,
}: Pick<WireValue<SessionTrial>, 'promotable' | 'already_merged'>) {
  if (!promotable) return 'would not go through';
  return already_merged ? 'would change nothing: its work is already there' : 'would go through';
}

export const promoteCommand = defineCommand({
  name: 'worktree promote',
  about: "merge, rebase or squash a session's branch into its base; fails closed on conflicts, never pushes",
  args: sessionArg,
  flags: {
    base: intoFlag,
    strategy: { type: 'string', about: 'how', choices: PROMOTE_STRATEGIES },
    squash: { type: 'boolean', about: 'as one commit, the same as --strategy squash' },
    message: {
      type: 'string',
      short: 'm',
      value: 'text',
      multiple: true,
      about: 'message of the merge or squashed commit; each one is a paragraph',
    },
    edit: { type: 'boolean', about: 'edit that message first' },
    keep: { type: 'boolean', about: 'keep the worktree and the branch' },
    keepOthers: { type: 'boolean', about: 'in a race: do not discard the others' },
    head: { type: 'string', value: 'commit', about: 'only if the branch is still at this commit' },
  },
  examples: [
    'worktree promote s-12',
    'worktree promote s-12 --strategy rebase',
    "worktree promote s-12 --squash -m 'Fix the login'",
    'worktree promote s-12 --squash --edit',
  ],
  async run(context) {
    const { base, squash, message: paragraphs = [], edit: edits, keep, keepOthers, head } = context.flags;
    const given = paragraphs.join('\n\n');
    if (paragraphs.length > 0 && given.trim() === '') throw new SvcError('usage', 'the message is empty');
    if (squash && (context.flags.strategy ?? 'squash') !== 'squash')
      throw new SvcError('usage', `--squash contradicts --strategy ${context.flags.strategy}`);
    const strategy = squash ? 'squash' : context.flags.strategy;
    if (edits && strategy === 'rebase')
      throw new SvcError('usage', 'a rebase keeps the messages of the commits, so there is none to edit');
    if (edits) requireEditingTerminal(context);
    const client = await context.engine();
    const wanted = { session: context.arg(0), ...(base === undefined ? {} : { base }) };
    const how = strategy === 'squash' ? strategy : 'merge';
    const draft = edits ? await client.call('worktree.message', { ...wanted, strategy: how }) : null;
    const message = draft === null ? given : await editMessage(given || draft.message, context.env);
    if (draft !== null && message === '') {
      context.note('the message is empty, so nothing was changed');
      return EXIT.failure;
    }
    // The message is about this commit.
    const pinned = head ?? draft?.head;
    const promoting = client.call('worktree.promote', {
      ...wanted,
      ...(strategy === undefined ? {} : { strategy }),
      ...(message === '' ? {} : { message }),
      ...(keep ? { keep } : {}),
      ...(keepOthers ? { keep_others: true } : {}),
      ...(pinned === undefined ? {} : { head: pinned }),
    });
    const promoted = await (draft === null ? promoting : orKeepMessage(message, promoting));
    context.result(promoted, (each) =>
      formatFacts([
        [
          'promoted',
          each.already_merged
            ? `${each.branch} was already in ${each.base}`
            : `${each.branch} into ${each.base} (${each.strategy})`,
        ],
        ['commit', `${each.before.slice(0, 10)} → ${each.after.slice(0, 10)}`],
        ['check', describeSensitive(each.sensitive) || null],
        ['checkout', each.checkout === 'updated' ? 'updated' : null],
        ['missing', describeMissingLfs(each.missing_lfs)],
        ['worktree', each.removed ? 'removed' : `kept: ${each.kept.join('; ')}`],
        [
          'discarded',
          each.discarded.length === 0
            ? null
            : `${each.discarded.join(', ')}; svc worktree restore brings one back`,
        ],
      ]),
    );
    noteWarnings(context, promoted.warnings);
    return 0;
  },
});

/** Files in no commit that would be lost with a worktree. */
const formatIgnored = ({ ignored }: Pick<WireValue<PruneEntry>, 'ignored'>): string =>
  ignored.length === 0
    ? ''
    : `, with the ignored files ${ignored.slice(0, 5).join(', ')}${ignored.length > 5 ? ` and ${ignored.length - 5} more` : ''}`;

const prune = defineCommand({
  name: 'worktree prune',
  about: 'remove worktrees whose work is merged; never unmerged or uncommitted work',
  flags: {
    project: { type: 'string', about: 'only this project' },
    base: { type: 'string', value: 'branch', about: 'merged means in this branch' },
    dryRun: { type: 'boolean', short: 'n', about: 'only say what would be removed' },
  },
  examples: ['worktree prune --dry-run', 'worktree prune'],
  async run(context) {
    const { project, base, dryRun } = context.flags;
    const client = await context.engine();
    const { repositories, problems } = await client.call('worktree.prune', {
      ...(project === undefined ? {} : { project }),
      ...(base === undefined ? {} : { base }),
      dry_run: dryRun,
    });
    context.result(repositories, (all) => {
      const lines = all.flatMap(({ entries, removed, refused, gone }) => [
        ...(dryRun
          ? entries
              .filter((each) => each.action === 'remove')
              .map((each) => `would remove ${each.branch}${formatIgnored(each)}`)
          : []),
        ...removed.map(
          (each) =>
            `removed ${each.branch}${each.saved_refs.length === 0 ? '' : `, kept as ${each.saved_refs.join(', ')}`}`,
        ),
        ...entries
          .filter((each) => each.action === 'keep')
          .map((each) => `keeps ${each.branch}: ${each.reasons.join('; ')}`),
        ...refused.map((each) => `keeps ${each.branch}: ${each.reasons.join('; ')}`),
        ...gone.map((each) => `already gone: ${each.branch}`),
      ]);
      if (lines.length === 0) return all.every(({ problem }) => problem === null) ? 'nothing to prune' : '';
      return toPrintable(lines.join('\n'), { lines: true });
    });
    for (const { warnings } of repositories) noteWarnings(context, warnings);
    return reportProblems(context, problems);
  },
});

const repeatedSession = repeatArgument(defineSessionArgument('session:ended'));

const discard = defineCommand({
  name: 'worktree discard',
  about: 'remove the branch and worktree of an ended session, even unmerged; restore brings them back',
  args: repeatedSession,
  repeats: true,
  examples: ['worktree discard s-12', 'worktree discard s-12 s-14 s-15'],
  async run(context) {
    const client = await context.engine();
    const discarded = await client.call('worktree.discard', { session: context.arg(0) });
    context.result(discarded, ({ session_id, branch, has_files }) =>
      [
        `discarded ${session_id}: ${branch}`,
        ...(has_files ? ['its uncommitted files are saved too'] : []),
        `svc worktree restore ${session_id}${has_files ? ' --worktree' : ''} brings it back`,
      ].join('; '),
    );
    noteWarnings(context, discarded.warnings);
  },
});

const restore = defineCommand({
  name: 'worktree restore',
  about: 'bring back a discarded session, or a branch removed after its promotion',
  args: repeatedSession,
  repeats: true,
  flags: { worktree: { type: 'boolean', short: 'w', about: 'its worktree too, with its uncommitted files' } },
  examples: ['worktree restore s-12', 'worktree restore s-12 --worktree'],
  async run(context) {
    const client = await context.engine();
    const restored = await client.call('worktree.restore', {
      session: context.arg(0),
      ...(context.flags.worktree ? { worktree: true } : {}),
    });
    context.result(restored, ({ session_id, branch, head, worktree, files_wait }) =>
      [
        `restored ${session_id}: ${branch}${head === null ? '' : ` at ${head.slice(0, 10)}`}`,
        ...(worktree === null ? [] : [`worktree ${worktree}`]),
        ...(files_wait
          ? [`its uncommitted files come with svc worktree restore ${session_id} --worktree`]
          : []),
      ].join('; '),
    );
  },
});

/** Names files whose content has to be fetched; null for none. */
const describeMissingLfs = (paths: readonly string[]): string | null =>
  paths.length === 0
    ? null
    : `${paths.slice(0, 5).join(', ')}${paths.length > 5 ? ` and ${paths.length - 5} more` : ''}: the content of ${paths.length === 1 ? 'this file' : 'these files'} is not on this machine; git lfs pull fetches it`;

const undo = defineCommand({
  name: 'worktree undo',
  about: "undo a session's promotion while its base has not moved; the session is unmerged again",
  args: sessionArg,
  examples: ['worktree undo s-12'],
  async run(context) {
    const client = await context.engine();
    const undone = await client.call('worktree.undo', { session: context.arg(0) });
    context.result(undone, (each) =>
      formatFacts([
        ['undone', `${each.branch} is no longer in ${each.base}`],
        ['commit', `${each.before.slice(0, 10)} → ${each.after.slice(0, 10)}`],
        ['checkout', each.checkout === 'updated' ? 'updated' : null],
        ['missing', describeMissingLfs(each.missing_lfs)],
        ['worktree', each.worktree],
      ]),
    );
  },
});

export const worktreeCommands: readonly Command[] = [
  list,
  diffCommand,
  shell,
  edit,
  openCheckout,
  runCommandInWorktree,
  fetchBranch,
  trial,
  promoteCommand,
  pullRequest,
  gitSettings,
  undo,
  discard,
  restore,
  prune,
];
