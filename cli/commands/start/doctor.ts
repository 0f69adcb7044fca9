import { version } from '../../../engine/core/base/own-package.ts';
import { formatCount, toPrintable } from '../../../engine/core/base/text.ts';
import { configuration } from '../../../engine/index.ts';
import { type Command, type CommandContext, defineCommand } from '../../command.ts';
import { type DoctorCheck, reportWarning } from '../../doctor/check.ts';
import { checkClock, checkData } from '../../doctor/data.ts';
import {
  checkAddresses,
  checkDeliveries,
  checkEngine,
  checkLink,
  checkSources,
  checkSupervision,
} from '../../doctor/engine.ts';
import { checkEngineEnvironment, checkPayers } from '../../doctor/environment.ts';
import {
  checkAgents,
  checkGit,
  checkNode,
  checkPlatform,
  checkReceiverProfile,
  checkSqlite,
  checkStrict,
} from '../../doctor/machine.ts';
import { checkMachines } from '../../doctor/machines.ts';
import { tryProviders } from '../../doctor/providers.ts';
import { checkRuns } from '../../doctor/runs.ts';
import {
  checkConfiguration,
  checkConsent,
  checkKeysFile,
  checkProjects,
  checkRepository,
  checkSecrets,
} from '../../doctor/workspace.ts';

/** The workspace checks, for a folder outside a workspace. */
const OF_A_WORKSPACE = ['data folder', 'engine', 'addresses', 'secrets', 'repository'];

/** `svc doctor`: checks everything that a run needs; changes nothing and, without `--live`, starts nothing. */
export const doctorCommand: Command = defineCommand({
  name: 'doctor',
  about: 'check the setup, with a remedy for each problem',
  flags: { live: { type: 'boolean', about: 'ask each model provider once, which costs a few tokens' } },
  examples: ['doctor', 'doctor --live', 'doctor --json'],
  async run(context) {
    const checks = await collectChecks(context, context.flags.live);
    context.result(checks, formatChecks);
    return checks.some(({ state }) => state === 'fail') ? 1 : 0;
  },
});

/** Runs every check; with `isLive` it asks each model provider. */
export async function collectChecks(context: CommandContext, isLive = false): Promise<DoctorCheck[]> {
  const { env } = context;
  const { check: configured, workspace } = await checkConfiguration(context);
  const machine = [checkNode(), await checkGit(env), await checkSqlite(), configured];
  const running = workspace === null ? null : await checkEngine(context, workspace);
  const engine = running?.engine ?? null;
  const [system, place, addresses, repository, strict, runs, agents] = await Promise.all([
    checkPlatform(env),
    workspace === null ? [] : checkData(workspace),
    workspace === null ? [] : checkAddresses(workspace, engine),
    workspace === null ? [] : checkRepository(workspace),
    checkStrict(env, workspace),
    workspace === null ? [] : checkRuns(env, workspace, engine),
    checkAgents(env, workspace),
  ]);
  const { resolveMachineHome } = await configuration();
  return [
    system,
    ...machine,
    ...(running === null ? listUnchecked(configured) : [running.check]),
    ...(engine === null
      ? []
      : [
          ...checkSupervision(engine),
          ...checkSources(engine),
          ...checkDeliveries(engine),
          ...checkLink(engine),
        ]),
    ...(engine === null || workspace === null || engine.version !== version
      ? []
      : [...(await checkEngineEnvironment(engine, workspace)), ...(await checkMachines(context))]),
    ...place,
    ...addresses,
    ...(workspace === null ? [] : [...checkSecrets(workspace, engine), ...checkReceiverProfile(workspace)]),
    checkKeysFile(resolveMachineHome(env)),
    ...repository,
    ...strict,
    ...(workspace === null ? [] : [checkConsent(workspace, place)]),
    ...runs,
    ...(await checkPayers(env, Object.keys(workspace?.loaded.config.agents.cmds ?? {}))),
    ...(workspace === null ? [] : await checkProjects(workspace)),
    ...agents,
    checkClock(workspace, engine),
    ...(workspace !== null && isLive ? await tryProviders(context) : []),
  ];
}

function listUnchecked({ state }: DoctorCheck): DoctorCheck[] {
  const why = state === 'warn' ? 'there is no workspace here' : 'svc.yaml cannot be used';
  return OF_A_WORKSPACE.map((name) => reportWarning(name, `not checked: ${why}`, null));
}

function formatChecks(checks: readonly DoctorCheck[]): string {
  const width = Math.max(...checks.map(({ check }) => check.length));
  const indent = ' '.repeat('fail  '.length + width + 2);
  const lines = checks.flatMap(({ check, state, found, remedy }) => [
    `${state.padEnd(4)}  ${check.padEnd(width)}  ${toPrintable(found, { lines: true }).replaceAll('\n', `\n${indent}`)}`,
    ...(remedy === null ? [] : [`${indent}→ ${toPrintable(remedy)}`]),
  ]);
  const countState = (state: DoctorCheck['state']): number =>
    checks.filter((each) => each.state === state).length;
  return [
    ...lines,
    '',
    `${countState('ok')} ok, ${formatCount(countState('warn'), 'warning')}, ${countState('fail')} failed`,
  ].join('\n');
}
