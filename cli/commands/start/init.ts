import { existsSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { asSvcError, SvcError } from '../../../engine/core/base/errors.ts';
import { runProgram } from '../../../engine/core/base/run-program.ts';
import {
  agentPrograms,
  configuration,
  type FreeAddresses,
  findWorkspace,
  ownSeat,
} from '../../../engine/index.ts';
import { type Command, type CommandContext, defineCommand } from '../../command.ts';
import { askForYes } from '../../confirm.ts';
import { findGitHook, findLastingFile, type HookReport, planGitHook } from './git-hook.ts';

/** The result of `svc init`. */
interface Report {
  file: string;
  root: string;
  git_root: string | null;
  /** False if the repository has no commit yet, from which a worktree could be made. */
  has_commits: boolean;
  agents: string[];
  default_preset: string | null;
  /** The exclude file of git that lists `.svc/`; null outside a repository. */
  excluded_in: string | null;
  hook: HookReport | null;
  /** Addresses that differ from the defaults, and why. */
  addresses: FreeAddresses;
}

/** `svc init`: makes a folder a workspace. */
export const initCommand: Command = defineCommand({
  name: 'init',
  about: 'write a commented svc.yaml for this folder; nothing is ever overwritten',
  flags: {
    dir: { type: 'string', value: 'folder', about: 'the folder to set up, default the current one' },
    yes: { type: 'boolean', short: 'y', about: 'answer yes to every question (SVC_SETUP_YES=1)' },
    hooks: {
      type: 'boolean',
      about: 'make git refuse commits to paths that others have locked; also works after setup',
    },
  },
  examples: ['init', 'init --dir ~/src/shop --yes', 'init --hooks'],
  async run(context) {
    const {
      agreeToFile,
      detectAgents,
      excludeFromGit,
      readEnvironmentFlag,
      findFreeAddresses,
      HEADLESS,
      INSTALL_LINES,
      resolveMachineHome,
      refuseInsideRun,
      renderStarterYaml,
    } = await loadEngineParts();
    const { cwd, env, stdin, flags, note } = context;
    const wanted = resolve(cwd, flags.dir ?? '.');
    if (!statSync(wanted, { throwIfNoEntry: false })?.isDirectory()) {
      throw new SvcError('not_found', `${wanted} is not a folder`, {
        hint: 'make it first, or name another with --dir',
      });
    }
    const folder = realpathSync(wanted);
    if (flags.hooks) {
      const known = findWorkspaceAround(folder, env);
      if (known !== null) {
        const place = await findGitHook(folder, env);
        context.result(planGitHook(place, findLastingFile(known, place))(), formatHook);
        return;
      }
    }
    refuseExisting(folder);
    const gitRoot = await findGitRoot(folder, env);
    let root = folder;
    // A folder given by --dir is deliberate; only the current folder may be a subfolder by accident.
    if (gitRoot !== undefined && gitRoot !== folder && flags.dir === undefined) {
      const yes = flags.yes || readEnvironmentFlag(env, 'SVC_SETUP_YES');
      const question = `This folder is inside the repository ${gitRoot}. Set up the workspace there instead?`;
      if (yes || (stdin.isTTY && !context.json && (await askForYes(context, question)))) root = gitRoot;
      else note(`note: the repository starts at ${gitRoot}; run svc init there to cover all of it`);
    }
    refuseExisting(root);

    const installed = detectAgents(HEADLESS, env).map(({ preset }) => preset);
    const preset = installed[0];
    const file = join(root, 'svc.yaml');
    const installHook = flags.hooks ? planGitHook(await findGitHook(root, env), file) : () => null;
    refuseInsideRun('svc init', env);
    const addresses = await findFreeAddresses(resolveMachineHome(env));
    writeNewFile(
      file,
      renderStarterYaml({ name: basename(root) || 'workspace', preset, installed, addresses: addresses.set }),
    );
    try {
      agreeToFile({ file, env });
    } catch (error) {
      // Its first use then agrees to it.
      if (!(error instanceof SvcError) || error.code !== 'storage_failed') throw error;
      note(`note: ${error.message}`);
    }
    const report: Report = {
      file,
      root,
      git_root: gitRoot ?? null,
      has_commits: gitRoot !== undefined && (await hasCommits(gitRoot, env)),
      agents: installed,
      default_preset: preset ?? null,
      excluded_in:
        gitRoot === undefined ? null : excludeOrNote(() => excludeFromGit(join(root, '.svc')), note),
      hook: installHook(),
      addresses,
    };
    context.result(report, (each) => formatReport(each, Object.values(INSTALL_LINES)));
  },
});

/** Excludes the data folder from git; a repository that does not allow it, such as another user's, is not a reason to stop. */
function excludeOrNote(exclude: () => string | null, note: CommandContext['note']): string | null {
  try {
    return exclude();
  } catch (error) {
    note(`note: .svc/ is not excluded from git: ${asSvcError(error).message}; add it to .gitignore`);
    return null;
  }
}

/** Finds the svc.yaml of the workspace that a folder is already in. */
function findWorkspaceAround(cwd: string, env: NodeJS.ProcessEnv): string | null {
  try {
    return findWorkspace({ cwd, env }).file;
  } catch (error) {
    // Another user's svc.yaml in a folder above does not prevent a separate workspace.
    const isNone = error instanceof SvcError && ['no_workspace', 'owner_untrusted'].includes(error.code);
    if (isNone && !env.SVC_CONFIG) return null;
    throw error;
  }
}

const loadEngineParts = async () => ({
  ...(await configuration()),
  ...(await agentPrograms()),
  ...(await ownSeat()),
});

function refuseExisting(folder: string): void {
  const file = join(folder, 'svc.yaml');
  if (existsSync(file)) throw createExistsError(file);
}

const createExistsError = (file: string): SvcError =>
  new SvcError('exists', `${file} exists already`, {
    hint: 'svc config check reads it; svc config set changes it',
  });

function writeNewFile(file: string, content: string): void {
  try {
    writeFileSync(file, content, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw createExistsError(file);
    throw error;
  }
}

/** Returns the top folder of the repository around a folder; undefined outside any, or without git. */
export async function findGitRoot(cwd: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const { exitCode, stdout } = await runProgram('git', ['rev-parse', '--show-toplevel'], { cwd, env });
  return exitCode === 0 ? stdout.replace(/\r?\n$/, '') || undefined : undefined;
}

async function hasCommits(cwd: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const { exitCode } = await runProgram('git', ['rev-parse', '--quiet', '--verify', 'HEAD'], { cwd, env });
  return exitCode === 0;
}

/** The commands that make a folder fit for worktrees; none if it is. */
const listGitSteps = ({ git_root, has_commits }: Report): string[] =>
  has_commits
    ? []
    : [
        `  ${git_root === null ? 'git init && ' : ''}git commit --allow-empty -m "first commit"   a worktree needs a commit`,
      ];

const formatHook = ({ hook, state }: HookReport): string =>
  `${hook} ${state === 'there already' ? 'is there already' : `was ${state}`}: commits to paths that others hold a lock on are refused`;

function formatReport(report: Report, installLines: readonly string[]): string {
  const { file, agents, default_preset, excluded_in, hook, addresses } = report;
  const lines = [`wrote ${file}`];
  if (excluded_in !== null) lines.push(`.svc/ is excluded from git in ${excluded_in}`);
  if (hook !== null) lines.push(formatHook(hook));
  if (addresses.why !== null)
    lines.push(
      `${addresses.why}, so this workspace has ${Object.entries(addresses.set)
        .map(([key, value]) => `${key} ${value}`)
        .join(' and ')}`,
    );
  const next =
    default_preset === null
      ? [
          'no agent was found on the path',
          '',
          'next, install one of these, or configure a command of yours:',
          ...installLines.map((line) => `  ${line}`),
          "  svc config set agents.cmds.mine 'my-agent {{prompt}}'",
          'then:',
        ]
      : [
          `agents found: ${agents.join(', ')}; tasks go to ${default_preset} unless they name another`,
          '',
          'next:',
        ];
  return [
    ...lines,
    ...next,
    ...listGitSteps(report),
    '  svc run "fix the typo in README.md"   gives an agent a task, in its own worktree',
    '  svc                                   opens the dashboard',
    '',
    'svc doctor checks the setup. When an automation should send tasks: svc webhook secret',
  ].join('\n');
}
