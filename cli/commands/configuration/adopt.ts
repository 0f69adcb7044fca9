import {
  configuration,
  dataFolders,
  EXIT,
  findWorkspace,
  formatCount,
  SvcError,
  toPrintable,
} from '../../../engine/index.ts';
import { type Command, type Context, defineCommand } from '../../command.ts';
import { askForYes } from '../../confirm.ts';
import { formatFacts } from '../../print.ts';

type Folders = Awaited<ReturnType<typeof dataFolders>>;
type Report = ReturnType<Folders['inspectDataFolder']>;
type Place = Parameters<Folders['inspectDataFolder']>[0];

type Consent = ReturnType<Awaited<ReturnType<typeof configuration>>['loadConfig']>['consent'];

const HELD =
  'Take it over? Approvals that were not used expire, what was queued or running is held, nothing is sent, all tokens are renewed.';

/** Asks for agreement, unless `--yes` gives it. Throws `usage` where nobody can be asked. */
async function askForConsent(
  context: Context,
  isYes: boolean,
  question: string,
  words: string,
): Promise<boolean> {
  const { readEnvironmentFlag } = await configuration();
  if (isYes || readEnvironmentFlag(context.env, 'SVC_SETUP_YES')) return true;
  if (!context.stdin.isTTY || context.json)
    throw new SvcError('usage', 'nobody is here to be asked', {
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
            ['tokens', formatCount(holds.tokens, 'key that still holds', 'keys that still hold')],
          ] as [string, string][])),
    ]),
    { lines: true },
  );

/** Notes what is left to do after taking over a data folder: svc.yaml has to be agreed to separately. */
function noteConsent({ note }: Pick<Context, 'note'>, { state, pending }: Consent): void {
  if (state === 'none')
    note('next: svc trust shows what svc.yaml names; nothing is started before it was agreed to');
  else if (pending.length > 0)
    note(
      `next: svc trust; until then ${formatCount(pending.length, 'key of svc.yaml waits', 'keys of svc.yaml wait')}`,
    );
}

async function startFresh(
  context: Context,
  isYes: boolean,
  folders: Folders,
  place: Place,
  tracked: string[],
  consent: Consent,
): Promise<number> {
  const report = folders.inspectDataFolder(place, tracked);
  const { data } = place.paths;
  if (report.state !== 'strange') {
    context.result({ moved: [], untracked: [] }, () => `${data} is not strange; nothing was moved`);
    return 0;
  }
  context.note(toPrintable(`${data}: ${report.why ?? 'strange'}`));
  const untracks =
    tracked.length === 0 ? '' : `, and take ${formatCount(tracked.length, 'file')} of it out of git's index`;
  const question = `Move it aside as it is${untracks}, and start anew?`;
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
      ...moved.map(({ from, to }) => `${from} is now ${to}, as it was`),
      ...(tracked.length === 0
        ? []
        : [`git no longer tracks ${data}: commit that, or a checkout brings it back`]),
      'the next command makes a new one',
    ].join('\n'),
  );
  noteConsent(context, consent);
  return 0;
}

const adopt = defineCommand({
  name: 'adopt',
  about:
    'take over a data folder that this machine does not know: moved, restored, copied, or brought along by a repository',
  flags: {
    fresh: { type: 'boolean', about: 'move it aside as it is, and start anew' },
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
          ? `${path} is this machine's own already`
          : `${path} holds nothing; it is made at the first start`,
      );
      return 0;
    }
    for (const line of formatReport(report).split('\n')) context.note(line);
    if (report.obstacle !== null) {
      throw new SvcError('data_folder_unknown', `it cannot be taken over: ${report.obstacle}`, {
        hint: 'svc adopt --fresh moves it aside, untouched, and starts anew',
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
        `${path} is this machine's own now; everything in it is held`,
        ...(moved === null ? [] : [`sessions and worktrees have moved with it from ${moved.from}`]),
        ...unplaced.map(
          ({ session, branch }) => `the work of ${session} is on its branch: git merge ${branch}`,
        ),
        ...unrepaired.map(
          ({ worktree, reason }) => `git cannot use ${worktree} (${reason}): git worktree repair ${worktree}`,
        ),
        ...(before === null ? [] : [`what it held before is in ${before}`]),
        'svc task retry starts what was held, each by a decision of its own',
      ].join('\n'),
    );
    noteConsent(context, loaded.consent);
    return 0;
  },
});

export const adoptCommand: Command = adopt;
