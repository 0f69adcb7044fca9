import { EXIT, SvcError } from '../../../engine/core/base/errors.ts';
import { formatCount, toPrintable } from '../../../engine/core/base/text.ts';
import { configuration, dataFolders, findWorkspace } from '../../../engine/index.ts';
import { type Command, type CommandContext, defineCommand } from '../../command.ts';
import { askForYes } from '../../confirm.ts';
import { formatFacts } from '../../print.ts';

type Folders = Awaited<ReturnType<typeof dataFolders>>;
type Report = ReturnType<Folders['inspectDataFolder']>;
type Place = Parameters<Folders['inspectDataFolder']>[0];

type Consent = ReturnType<Awaited<ReturnType<typeof configuration>>['loadConfig']>['consent'];

const HELD =
  'Take it over? Unused approvals expire, queued and running work is held, nothing is sent, and all tokens are renewed.';

/** Asks for agreement, unless `--yes` gives it. Throws `usage` without a terminal. */
async function askForConsent(
  context: CommandContext,
  isYes: boolean,
  question: string,
  words: string,
): Promise<boolean> {
  const { readEnvironmentFlag } = await configuration();
  if (isYes || readEnvironmentFlag(context.env, 'SVC_SETUP_YES')) return true;
  if (!context.stdin.isTTY || context.json)
    throw new SvcError('usage', 'no terminal is available to ask on', {
      hint: `svc adopt ${words}--yes agrees to what was shown`,
    });
  return askForYes(context, question);
}

const formatReport = ({ path, why, holds }: Report): string =>
  toPrintable(
    formatFacts([
      ['folder', path],
      ['refused', why],
      ['tasks', holds === null ? 'no database' : String(holds.tasks)],
      ...(holds === null
        ? []
        : ([
            [
              'decisions',
              `${holds.decisionsPending} waiting, ${holds.approvalsUnused} approved and not used`,
            ],
            [
              'sessions',
              `${holds.sessionsQueued} queued, ${holds.sessionsRunning} running, ${holds.sessions} in all`,
            ],
            [
              'to be sent',
              `${formatCount(holds.deliveriesPending, 'event')}, ${formatCount(holds.messagesPending, 'message')}`,
            ],
            ['tokens', formatCount(holds.tokens, 'valid key', 'valid keys')],
          ] as [string, string][])),
    ]),
    { lines: true },
  );

/** Prints what is left to do after taking over a data folder: svc.yaml has to be agreed to separately. */
function noteConsent({ note }: Pick<CommandContext, 'note'>, { state, pending }: Consent): void {
  if (state === 'none')
    note('next: svc trust shows what svc.yaml configures; nothing starts before you agree to it');
  else if (pending.length > 0)
    note(
      `next: svc trust; until then ${formatCount(pending.length, 'key of svc.yaml waits', 'keys of svc.yaml wait')}`,
    );
}

async function startFresh(
  context: CommandContext,
  isYes: boolean,
  folders: Folders,
  place: Place,
  tracked: string[],
  consent: Consent,
): Promise<number> {
  const report = folders.inspectDataFolder(place, tracked);
  const { data } = place.paths;
  if (report.state !== 'strange') {
    context.result(
      { moved: [], untracked: [] },
      () => `${data} already belongs to this machine; nothing was moved`,
    );
    return 0;
  }
  context.note(toPrintable(`${data}: ${report.why ?? 'strange'}`));
  const untracks =
    tracked.length === 0 ? '' : `, and take ${formatCount(tracked.length, 'file')} of it out of git's index`;
  const question = `Move it aside unchanged${untracks}, and start with an empty one?`;
  if (!(await askForConsent(context, isYes, question, '--fresh '))) {
    context.note('nothing was moved');
    return EXIT.failure;
  }
  const moved = folders.setDataFolderAside(place, tracked);
  if (tracked.length > 0)
    for (const path of [data, ...folders.listDatabaseFiles(place.paths.db)])
      await folders.untrackFiles(path, context.env);
  context.result({ moved, untracked: tracked }, () =>
    [
      ...moved.map(({ from, to }) => `${from} was moved to ${to}, unchanged`),
      ...(tracked.length === 0
        ? []
        : [`git no longer tracks ${data}: commit that, or a checkout brings it back`]),
      'the next command creates a new one',
    ].join('\n'),
  );
  noteConsent(context, consent);
  return 0;
}

const adopt = defineCommand({
  name: 'adopt',
  about:
    'take over a data folder that this machine does not know: moved, restored, copied, or part of a repository',
  flags: {
    fresh: { type: 'boolean', about: 'move it aside unchanged, and start with an empty one' },
    yes: { type: 'boolean', short: 'y', about: 'answer yes (SVC_SETUP_YES=1)' },
  },
  examples: ['adopt', 'adopt --fresh'],
  async run(context) {
    const { env } = context;
    const isYes = context.flags.yes;
    const { resolveDataPaths, loadConfig } = await configuration();
    const folders = await dataFolders();
    const loaded = loadConfig({ file: findWorkspace(context).file, env });
    const paths = resolveDataPaths(loaded);
    const place = { root: loaded.root, paths, env };
    const tracked = await folders.listTrackedFiles([paths.data, ...folders.listDatabaseFiles(paths.db)], env);
    if (context.flags.fresh) return startFresh(context, isYes, folders, place, tracked, loaded.consent);
    const report = folders.inspectDataFolder(place, tracked);
    if (report.state !== 'strange') {
      context.result({ ...report, before: null }, ({ path, state }) =>
        state === 'ours'
          ? `${path} already belongs to this machine`
          : `${path} is empty; it is created at the first start`,
      );
      return 0;
    }
    for (const line of formatReport(report).split('\n')) context.note(line);
    if (report.obstacle !== null) {
      throw new SvcError('data_folder_unknown', `it cannot be taken over: ${report.obstacle}`, {
        hint: 'svc adopt --fresh moves it aside, unchanged, and starts with an empty one',
        data: { path: report.path, reason: report.reason },
      });
    }
    if (!(await askForConsent(context, isYes, HELD, ''))) {
      context.note('nothing was changed');
      return EXIT.failure;
    }
    const { before, moved, kept, unplaced } = folders.adoptDataFolder(place, tracked);
    const unrepaired =
      moved === null ? [] : await folders.repairMovedWorktrees({ env, agentsDir: paths.agents }, moved, kept);
    const adopted = { ...folders.inspectDataFolder(place, tracked), before, moved, unplaced, unrepaired };
    context.result(adopted, ({ path }) =>
      [
        `${path} now belongs to this machine; everything in it is on hold`,
        ...(moved === null ? [] : [`sessions and worktrees moved with it from ${moved.from}`]),
        ...unplaced.map(
          ({ session, branch }) => `the work of ${session} is on its branch: git merge ${branch}`,
        ),
        ...unrepaired.map(
          ({ worktree, reason }) => `git cannot use ${worktree} (${reason}): git worktree repair ${worktree}`,
        ),
        ...(before === null ? [] : [`its earlier contents are in ${before}`]),
        'svc task retry restarts held tasks, each with its own decision',
      ].join('\n'),
    );
    noteConsent(context, loaded.consent);
    return 0;
  },
});

export const adoptCommand: Command = adopt;
