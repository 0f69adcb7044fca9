import { agentPrograms } from '../../engine/index.ts';
import { type CheckedWorkspace, type DoctorCheck, type RunningEngine, reportWarning } from './check.ts';

const REMEDY = 'svc down, then svc up from here; workers continue';

/** Compares where the engine finds agents and files with where this command does: the engine keeps the environment of its start. */
export async function checkEngineEnvironment(
  { environment }: Pick<RunningEngine, 'environment'>,
  { loaded: { config }, env }: Pick<CheckedWorkspace, 'loaded' | 'env'>,
): Promise<DoctorCheck[]> {
  const { detectAgents } = await agentPrograms();
  const { path, home } = environment;
  const isThere = new Set(
    detectAgents(config.agents.cmds, { ...env, PATH: path ?? '' }).map(({ preset }) => preset),
  );
  const missing = detectAgents(config.agents.cmds, env).filter(({ preset }) => !isThere.has(preset));
  return [
    ...(missing.length === 0
      ? []
      : [
          reportWarning(
            'engine PATH',
            `the engine does not find ${missing.map(({ program }) => program).join(', ')}, which is on your PATH`,
            REMEDY,
          ),
        ]),
    ...(home === (env.HOME ?? home)
      ? []
      : [reportWarning('engine HOME', `the engine has ${home}, you have ${env.HOME}`, REMEDY)]),
  ];
}

/** Warns of a key in the environment that an agent uses instead of its person's login. */
export async function checkPayers(
  env: NodeJS.ProcessEnv,
  presets: readonly string[],
): Promise<DoctorCheck[]> {
  const { findKeyBeforeLogin } = await agentPrograms();
  return presets.flatMap((preset) => {
    const key = findKeyBeforeLogin(preset, env);
    return key === null
      ? []
      : [
          reportWarning(
            `agent ${preset}`,
            `${key} is set, so runs of ${preset} are billed to its account and not to the login`,
            `unset ${key} for the engine (svc down, then svc up), unless this is intended`,
          ),
        ];
  });
}
