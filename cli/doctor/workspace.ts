import { existsSync, statSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { asSvcError } from '../../engine/core/base/errors.ts';
import { isInsideFolder } from '../../engine/core/base/paths.ts';
import { configuration, findWorkspace } from '../../engine/index.ts';
import type { CommandContext } from '../command.ts';
import {
  type CheckedWorkspace,
  type DoctorCheck,
  type RunningEngine,
  readOutput,
  reportFailure,
  reportPass,
  reportWarning,
} from './check.ts';
import { listSecretNames } from './machine.ts';

const SHORT_SECRET = 16;

/** Checks that svc.yaml is found and valid. */
export async function checkConfiguration({
  cwd,
  env,
}: Pick<CommandContext, 'cwd' | 'env'>): Promise<{ check: DoctorCheck; workspace: CheckedWorkspace | null }> {
  const failCheck = (check: DoctorCheck) => ({ check, workspace: null });
  let file: string;
  try {
    file = findWorkspace({ cwd, env }).file;
  } catch (thrown) {
    const { message, hint } = asSvcError(thrown);
    const remedy = String(hint ?? 'run svc init');
    // A wrong SVC_CONFIG is a mistake; a folder without svc.yaml is not one yet.
    return failCheck(
      env.SVC_CONFIG
        ? reportFailure('svc.yaml', message, remedy)
        : reportWarning('svc.yaml', message, remedy),
    );
  }
  const config = await configuration();
  try {
    const loaded = config.loadConfig({ file, env });
    const workspace: CheckedWorkspace = {
      loaded,
      paths: config.resolveDataPaths(loaded),
      configuration: config,
      env,
    };
    // keys.env has a separate check.
    const warnings = loaded.warnings.filter((each) => !each.startsWith(join(loaded.home.path, 'keys.env')));
    const check =
      warnings.length === 0
        ? reportPass('svc.yaml', file)
        : reportWarning('svc.yaml', `${file}: ${warnings.join('; ')}`, 'svc config check reports the same');
    return { check, workspace };
  } catch (thrown) {
    return failCheck(
      reportFailure('svc.yaml', asSvcError(thrown).message, 'correct it; svc config check reads it again'),
    );
  }
}

/** Checks the variables that hold secrets: their names, never a value. If an engine is running, its variables apply. */
export function checkSecrets(workspace: CheckedWorkspace, engine: RunningEngine | null): DoctorCheck[] {
  const { lookup } = workspace.loaded;
  const lacking = new Set(engine?.secrets.flatMap(({ name, is_set }) => (is_set ? [] : [name])));
  return listSecretNames(workspace).map(({ key, names }) => {
    if (names.length > 0 && names.every((name) => lacking.has(name))) {
      const isHere = names.some((name) => lookup(name) !== undefined);
      return reportWarning(
        key,
        `${names.join(', ')} is not set in the engine${isHere ? ', which was started without it; it is set here' : ''}`,
        isHere
          ? 'svc down, then svc up passes it on; workers keep running'
          : 'svc webhook secret creates it; then svc down and svc up',
      );
    }
    if (names.length === 0) {
      return reportWarning(
        key,
        'not set: the receiver does not start',
        `svc config set ${key} SVC_WEBHOOK_SECRET`,
      );
    }
    const isSet = (name: string): boolean =>
      engine === null ? lookup(name) !== undefined : !lacking.has(name);
    const set = names.filter(isSet);
    const unset = names.filter((name) => !set.includes(name));
    if (set.length === 0) {
      return reportWarning(
        key,
        `${names.join(', ')} is not set here`,
        'svc webhook secret creates it, if an automation should send tasks',
      );
    }
    const short = set.filter((name) => (lookup(name)?.length ?? SHORT_SECRET) < SHORT_SECRET);
    if (short.length > 0) {
      return reportWarning(
        key,
        `${short.join(', ')} is short and can be guessed`,
        'remove it; svc webhook secret creates a better one',
      );
    }
    return reportPass(key, `${set.join(', ')} set${unset.length > 0 ? `, ${unset.join(', ')} not` : ''}`);
  });
}

/** Checks keys.env of the machine home, which only its owner may read. */
export function checkKeysFile(path: string): DoctorCheck {
  const file = join(path, 'keys.env');
  if (!existsSync(file)) return reportPass('keys.env', `none in ${path}`);
  const { mode } = statSync(file);
  const isOpen = (mode & 0o077) !== 0;
  return isOpen
    ? reportWarning('keys.env', `${file} can be read by others`, `chmod 600 ${file}`)
    : reportPass('keys.env', `${file}, ${(mode & 0o777).toString(8).padStart(4, '0')}`);
}

/** Checks for projects with commands or files for their worktrees that no one has agreed to here: their workers do not start. */
export async function checkProjects({ loaded }: CheckedWorkspace): Promise<DoctorCheck[]> {
  const { readProjectSetups } = await configuration();
  const { root, config, home } = loaded;
  const all = readProjectSetups({ root, config, home: home.path });
  const needing = all.filter(({ consent }) => consent !== 'not_needed');
  if (needing.length === 0) return [];
  const lacking = needing.filter(({ consent }) => consent !== 'given');
  const name = 'project setup';
  if (lacking.length === 0)
    return [reportPass(name, `${needing.map(({ id }) => id).join(', ')}: agreed to here`)];
  const problem = lacking.find((each) => each.problem !== null)?.problem ?? null;
  const found = lacking.map(
    ({ id, consent }) => `${id} (${consent === 'changed' ? 'changed since' : 'never'})`,
  );
  return [
    reportWarning(
      name,
      `not agreed to on this machine: ${found.join(', ')}${problem === null ? '' : `; ${problem}`}`,
      `svc project trust ${lacking[0]?.id} shows what would run; until then no worker starts there`,
    ),
  ];
}

/** Checks for keys of svc.yaml whose values no one on this machine has agreed to; other values are in use instead. */
export function checkConsent(
  { loaded: { consent, file } }: CheckedWorkspace,
  place: readonly DoctorCheck[],
): DoctorCheck {
  const name = 'consent';
  const { state, pending, problem } = consent;
  if (pending.length === 0) return reportPass(name, `${file} is agreed to on this machine`);
  const keys = pending.map(({ key }) => key).join(', ');
  const found =
    state === 'none'
      ? `no one on this machine has agreed to ${keys} of svc.yaml, so nothing is started`
      : `${keys} of svc.yaml were changed since they were agreed to; the earlier values are in use`;
  const isRefused = place.some(({ check, state: is }) => check === 'data folder is ours' && is === 'fail');
  const remedy = isRefused
    ? 'once the data folder is in order, svc trust shows them and asks'
    : 'svc trust shows them and asks';
  return reportWarning(name, problem === null ? found : `${found}; ${problem}`, remedy);
}

/** Checks that worktrees have a repository with a commit, and that git ignores the engine's data. */
export async function checkRepository({ loaded, paths, env }: CheckedWorkspace): Promise<DoctorCheck[]> {
  const { root, config } = loaded;
  const project = resolve(root, config.project.root);
  let refused = '';
  const runGit = (...args: string[]): Promise<string | null> =>
    readOutput('git', args, { cwd: project, env }).then(
      (text) => text.replace(/\n$/, ''),
      (error: { stderr?: string }) => {
        refused = (error.stderr ?? '').split('\n')[0]?.replace(/^fatal: /, '') ?? '';
        return null;
      },
    );
  const top = await runGit('rev-parse', '--show-toplevel');
  // Such as an owner that git does not trust: git's own message names the remedy.
  if (top === null && refused !== '' && !/not a git repository/i.test(refused)) {
    return [reportWarning('repository', `git in ${project}: ${refused}`, 'git status there shows more')];
  }
  if (top === null || top === '') {
    return [
      reportWarning(
        'repository',
        `${project} is not in a git repository: workers can only run with --inplace`,
        'git init, then commit something',
      ),
    ];
  }
  if ((await runGit('rev-parse', '--verify', '--quiet', 'HEAD')) === null) {
    return [
      reportWarning('repository', `${top} has no commit yet`, 'commit something: a worktree needs a commit'),
    ];
  }
  const inside = relative(top, paths.data);
  if (!isInsideFolder(top, paths.data)) {
    return [reportPass('repository', top), reportPass('ignored by git', `${paths.data} is outside of it`)];
  }
  const isIgnored =
    (await runGit('check-ignore', '--quiet', '--no-index', join(paths.data, 'svc.db'))) !== null;
  return [
    reportPass('repository', top),
    isIgnored
      ? reportPass('ignored by git', `${inside}${sep}`)
      : reportWarning(
          'ignored by git',
          `git sees ${inside}${sep}`,
          `add ${inside}/ to .git/info/exclude or .gitignore`,
        ),
  ];
}
