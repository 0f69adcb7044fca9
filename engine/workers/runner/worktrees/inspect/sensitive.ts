import { type Git, NO_DIFF_PROGRAMS } from '../git/git.ts';

/** The controls of a file beyond the program itself. */
export type SensitiveKind = 'svc' | 'git' | 'agents' | 'CI' | 'git hooks' | 'tools';

/** A changed file that a person who merges the work should check separately. */
export interface SensitiveChange {
  path: string;
  kind: SensitiveKind;
  change: 'added' | 'changed' | 'deleted';
}

/**
 * Names of files and, with a trailing slash, of folders; at any depth, in any case. A star matches any end of a name,
 * and a pattern with a slash is searched as a part of the path.
 */
const NAMES: Readonly<Record<SensitiveKind, readonly string[]>> = {
  svc: ['svc.yaml', 'svc.yml', '.svc/', '.svc'],
  git: ['.gitattributes', '.gitmodules', '.gitconfig', '.lfsconfig', '.git', '.git/'],
  agents: [
    ...[
      'claude.md',
      'claude.local.md',
      'agents.md',
      'agents.override.md',
      'agent.md',
      'gemini.md',
      'qwen.md',
    ],
    ...['kimi.md', 'copilot.md', '.mcp.json', 'mcp.json', 'opencode.json', 'opencode.jsonc', '.goosehints'],
    ...['.cursorrules', '.windsurfrules', '.clinerules', '.aider*', '.rules', '.cursorignore'],
    ...[
      '.claude/',
      '.codex/',
      '.gemini/',
      '.opencode/',
      '.cursor/',
      '.qwen/',
      '.kiro/',
      '.factory/',
      '.kimi/',
    ],
    ...['.copilot/', '.agents/', '.agent/', '.continue/', '.windsurf/', '.clinerules/', '.roo/', '.amp/'],
    ...['.augment/', '.goose/', '.junie/', '.trae/', '.amazonq/', '.antigravity/', '.claude-plugin/'],
    ...['.github/copilot-instructions.md', '.github/instructions/', '.github/prompts/', '.github/agents/'],
    ...['.github/chatmodes/', '.github/hooks/', '.github/skills/', '.github/copilot/'],
  ],
  CI: [
    ...['.github/workflows/', '.github/actions/', '.gitea/workflows/', '.forgejo/workflows/', '.gitlab/ci/'],
    ...['.github/dependabot.yml', '.gitlab-ci*', 'jenkinsfile*', 'azure-pipelines*', 'bitbucket-pipelines*'],
    ...[
      '.circleci/',
      '.buildkite/',
      '.woodpecker/',
      '.semaphore/',
      '.teamcity/',
      '.builds/',
      '.azuredevops/',
    ],
    ...[
      '.travis.yml',
      '.drone.yml',
      '.woodpecker.y*',
      '.cirrus.*',
      'appveyor.yml',
      '.appveyor.yml',
      '.build.yml',
    ],
    ...['cloudbuild.y*', 'buildspec.y*', 'codefresh.yml', 'codeowners'],
  ],
  'git hooks': [
    ...['.husky/', '.githooks/', 'githooks/', '.git-hooks/', '.hooks/', '.huskyrc*', '.lintstagedrc*'],
    ...[
      'lefthook.*',
      '.lefthook.*',
      'lefthook-local.*',
      '.lefthook/',
      '.lefthook-local/',
      '.pre-commit-config.y*',
    ],
    ...[
      '.pre-commit-hooks.y*',
      '.overcommit.yml',
      '.simple-git-hooks.*',
      '.captainhook*',
      'captainhook.json',
    ],
  ],
  tools: [
    ...[
      '.envrc',
      '.devcontainer/',
      '.devcontainer.json',
      '.vscode/',
      '.idea/',
      '.fleet/',
      '.zed/',
      '*.code-workspace',
    ],
    ...['mise.toml', '.mise.*', 'mise.local.toml', '.mise/', '.npmrc', '.yarnrc*', '.yarn/', '.pnpmfile.*'],
    ...['.pnp.*', 'bunfig.toml', '.cargo/', '.bazelrc', '.exrc', '.vimrc', '.nvimrc', '.nvim.lua', '.lvimrc'],
    ...['.dir-locals.el', '.gdbinit', '.lldbinit', '.rvmrc'],
  ],
};

const buildPattern = (name: string): string => {
  const text = name
    .replace(/\/$/, '')
    .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '[^/]*');
  return `(?:^|/)${text}${name.endsWith('/') ? '(?:/|$)' : '$'}`;
};

const KINDS = (Object.keys(NAMES) as SensitiveKind[]).map(
  (kind) => [kind, new RegExp(NAMES[kind].map(buildPattern).join('|'))] as const,
);

/** Normalises a path as a case-insensitive file system, and a human eye, would read it. */
const foldPath = (path: string): string =>
  path
    .normalize('NFKC')
    .replace(/[\p{DI}\p{Cc}]/gu, '')
    .toLowerCase()
    .replaceAll('\\', '/')
    .replace(/[. ]+(?=\/|$)/g, '');

/** Returns the controls of a path's file; null for an ordinary one. */
export function findSensitiveKind(path: string): SensitiveKind | null {
  const text = foldPath(path);
  return KINDS.find(([, pattern]) => pattern.test(text))?.[0] ?? null;
}

const PRIVATE = new RegExp(
  (['svc', 'git', 'agents'] as const)
    .flatMap((kind) => NAMES[kind].filter((name) => name.endsWith('/')).map(buildPattern))
    .join('|'),
);

/** Reports whether a path is in a folder of svc, git or an agent program, at any depth. */
export const isPrivatePath = (path: string): boolean => PRIVATE.test(foldPath(path));

/** One changed path of a comparison of two trees. */
export interface ChangedPath {
  path: string;
  change: SensitiveChange['change'];
  /** True if one of the two sides is a nested repository. */
  isRepository: boolean;
}

const REPOSITORY = '160000';

/** Lists every path that differs between two commits or trees; a renamed file counts as two. */
export async function listChangedPaths(
  git: Git,
  root: string,
  { from, to, env = {} }: { from: string; to: string; env?: Readonly<Record<string, string>> },
): Promise<ChangedPath[]> {
  const options = ['-r', '-z', '--raw', '--no-renames', ...NO_DIFF_PROGRAMS];
  const { stdout } = await git.run(root, ['diff-tree', ...options, from, to], { env });
  const found: ChangedPath[] = [];
  const fields = stdout.split('\0');
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [before = '', after = '', , , status = ''] = (fields[at] ?? '').split(' ');
    found.push({
      path: fields[at + 1] ?? '',
      change: status === 'A' ? 'added' : status === 'D' ? 'deleted' : 'changed',
      isRepository: before === `:${REPOSITORY}` || after === REPOSITORY,
    });
  }
  return found;
}

/** Selects changes that control more than the program itself. */
export const selectSensitive = (paths: readonly ChangedPath[]): SensitiveChange[] =>
  paths.flatMap(({ path, change, isRepository }) => {
    const kind = findSensitiveKind(path) ?? (isRepository ? 'git' : null);
    return kind === null ? [] : [{ path, kind, change }];
  });

/** Describes changes in one line for people: `svc.yaml (svc), CLAUDE.md (agents, deleted)`; empty when there are none. */
export function describeSensitive(changes: readonly SensitiveChange[], most = 8): string {
  const words = changes
    .slice(0, most)
    .map(({ path, kind, change }) => `${path} (${kind}${change === 'deleted' ? ', deleted' : ''})`);
  return [...words, ...(changes.length > most ? [`${changes.length - most} more`] : [])].join(', ');
}
