import { EXIT, SvcError } from '../../../engine/core/base/errors.ts';
import { formatCount, toPrintable } from '../../../engine/core/base/text.ts';
import {
  type ConsentView,
  configuration,
  findWorkspace,
  listSetupFacts,
  type PendingKey,
} from '../../../engine/index.ts';
import { actAsChair } from '../../chair-act.ts';
import { type Command, type CommandContext, defineCommand } from '../../command.ts';
import { askForYes } from '../../confirm.ts';

/** Reads from the files, without an engine, what waits for consent. */
export async function readConsentView({
  cwd,
  env,
}: Pick<CommandContext, 'cwd' | 'env'>): Promise<ConsentView> {
  const { buildConsentView, loadConfig } = await configuration();
  const { readProjectSetups } = await configuration();
  const loaded = loadConfig({ file: findWorkspace({ cwd, env }).file, env });
  const { root, config, home } = loaded;
  return buildConsentView(loaded, readProjectSetups({ root, config, home: home.path }));
}

/** Formats the difference, key by key and entry by entry, as lines. */
async function formatDifference(
  pending: readonly PendingKey[],
  setups: ConsentView['setups'],
): Promise<string[]> {
  const { listPendingLines } = await configuration();
  const keys = listPendingLines(pending).flatMap(({ key, old, new: now }) => [
    key,
    `  in use    ${old ?? '(not set)'}`,
    `  svc.yaml  ${now ?? '(not set)'}`,
  ]);
  const projects = setups.flatMap((each) => [
    `project ${each.id}, in every new worktree of ${each.folder}`,
    ...listSetupFacts(each).map(([name, text]) => `  ${name.padEnd(8)}  ${text}`),
  ]);
  return [...keys, ...projects];
}

/** Selects the requested keys from the waiting ones. Throws `usage` for a key that is not waiting. */
function choosePending(view: ConsentView, keys: readonly string[]): Pick<ConsentView, 'pending' | 'setups'> {
  if (keys.length === 0) return view;
  const waiting = [...view.pending.map(({ key }) => key), ...(view.setups.length > 0 ? ['projects'] : [])];
  const unknown = keys.find((key) => !waiting.includes(key));
  if (unknown !== undefined)
    throw new SvcError('usage', `${unknown} is not waiting for consent`, {
      hint: waiting.length === 0 ? 'nothing is' : `these are: ${waiting.join(', ')}`,
    });
  return {
    pending: view.pending.filter(({ key }) => keys.includes(key)),
    setups: keys.includes('projects') ? view.setups : [],
  };
}

/** `svc trust`: a person agrees to the settings of svc.yaml. */
export const trustCommand: Command = defineCommand({
  name: 'trust',
  about: 'show the settings in svc.yaml that no one on this machine has agreed to, and agree to them',
  flags: {
    key: {
      type: 'string',
      multiple: true,
      value: 'key',
      about: 'only this key; can be given more than once',
    },
    yes: { type: 'boolean', short: 'y', about: 'answer yes (SVC_SETUP_YES=1)' },
  },
  examples: ['trust', 'trust --key agents.cmds', 'trust --yes'],
  async run(context) {
    const { cwd, env, flags, json, stdin } = context;
    const { findActor, readEnvironmentFlag, trustConfig } = await configuration();
    const what = 'svc trust';
    const view = await actAsChair(context, what, {
      ask: (client) => client.call('config.consent'),
      alone: () => readConsentView(context),
    });
    const { file, digest } = view;
    const { pending, setups } = choosePending(view, flags.key);
    if (pending.length + setups.length === 0) {
      context.result(view, () => `${toPrintable(file)}: nothing waits for consent`);
      return 0;
    }
    const left = view.pending.length - pending.length;
    context.note(
      toPrintable(`${file} names programs, addresses, guards or paths that were not agreed to here:`),
    );
    for (const line of await formatDifference(pending, setups)) context.note(toPrintable(line));
    if (!(flags.yes || readEnvironmentFlag(env, 'SVC_SETUP_YES'))) {
      if (!stdin.isTTY || json)
        throw new SvcError('usage', 'no terminal is available to ask on', {
          hint: `svc trust ${flags.key.map((key) => `--key ${key} `).join('')}--yes agrees to what was shown`,
        });
      if (!(await askForYes(context, 'Use this on this machine?'))) {
        context.note('nothing was recorded');
        return EXIT.failure;
      }
    }
    const keys = flags.key.length === 0 ? undefined : flags.key;
    // By its digest, so that the consent covers exactly what was shown. Without an engine, nothing needs a restart.
    const after = await actAsChair<ConsentView & { restart_needed?: string[] }>(context, what, {
      ask: (client) => client.call('config.trust', { digest, ...(keys === undefined ? {} : { keys }) }),
      async alone() {
        trustConfig({ file: findWorkspace({ cwd, env }).file, env, digest, keys, actor: findActor(env) });
        return readConsentView(context);
      },
    });
    context.result(
      after,
      () =>
        `agreed to on this machine: ${[...pending.map(({ key }) => key), ...setups.map(({ id }) => `project ${id}`)].join(', ')}`,
    );
    if (left > 0) context.note(`note: ${formatCount(left, 'more waits', 'more wait')}`);
    const { restart_needed: restart } = after;
    if (restart !== undefined && restart.length > 0)
      context.note(`note: ${restart.join(', ')} take effect after svc down and svc up`);
    else if (restart !== undefined && view.state === 'none')
      context.note('note: svc down and svc up open the receiver');
    return 0;
  },
});
