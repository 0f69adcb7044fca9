import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  describeSensitive,
  findSensitiveKind,
  listChangedPaths,
  selectSensitive,
} from '../../../../../../engine/workers/runner/worktrees/inspect/sensitive.ts';
import { makeRepository, openTestGit } from '../../../../../support/workspaces/git.ts';

test('files that affect svc, git, agents, CI, hooks and tools are recognised', () => {
  const kinds = {
    svc: ['svc.yaml', 'services/api/SVC.yaml', '.svc/svc.db'],
    git: ['.gitattributes', 'a/b/.GitAttributes', '.gitmodules'],
    agents: [
      ...['CLAUDE.md', 'docs/claude.md', 'AGENTS.md', 'GEMINI.md', '.mcp.json', '.claude/settings.json'],
      ...['.codex/config.toml', '.gemini/settings.json', 'opencode.json', '.opencode/agent/x.md'],
      ...['.cursor/rules/a.mdc', '.cursorrules', '.qwen/x', '.kiro/steering/a.md', '.factory/droids/x.md'],
      ...['.github/copilot-instructions.md', '.GITHUB/Instructions/x.md', '.claude'],
    ],
    CI: [
      '.github/workflows/ci.yml',
      '.gitlab-ci.yml',
      '.circleci/config.yml',
      'Jenkinsfile',
      'ci/Jenkinsfile.old',
    ],
    'git hooks': ['.husky/pre-commit', '.githooks/x', 'lefthook.yml', '.pre-commit-config.yaml'],
    tools: ['.vscode/tasks.json', '.idea/x', '.envrc', '.devcontainer/devcontainer.json', 'web/.npmrc'],
  };
  for (const [kind, paths] of Object.entries(kinds))
    for (const path of paths) assert.equal(findSensitiveKind(path), kind, path);
  // Names that look the same to a folding file system or to the eye.
  for (const path of ['.gitattri\u200cbutes', 'ＣＬＡＵＤＥ.md', '.claude./settings.json', 'CLAUDE.md '])
    assert.notEqual(findSensitiveKind(path), null, path);
  for (const path of [
    'src/svc.yaml.ts',
    'claude.mdx',
    'docs/workflows/ci.yml',
    'my.husky/x',
    'agents.ts',
    'README.md',
  ])
    assert.equal(findSensitiveKind(path), null, path);
});

test('renamed, deleted, made executable, turned into a link or a repository: each side is named', async (t) => {
  const repository = makeRepository();
  t.after(repository.remove);
  const git = openTestGit();
  const from = repository.commit(
    {
      'CLAUDE.md': 'a long enough text\n',
      '.envrc': 'x\n',
      '.husky/pre-push': 'x\n',
      'notes.md': 'n\n',
      '.cursorrules': 'c\n',
    },
    'before',
  );
  repository.git('mv', 'CLAUDE.md', 'plain.md');
  repository.git('mv', 'notes.md', 'AGENTS.md');
  repository.git('rm', '--quiet', '.envrc');
  repository.git('update-index', '--chmod=+x', '.husky/pre-push');
  repository.git('rm', '--quiet', '--cached', '.cursorrules');
  const blob = repository.git('hash-object', '-w', 'README.md');
  repository.git('update-index', '--add', '--cacheinfo', `120000,${blob},.cursorrules`);
  repository.git('update-index', '--add', '--cacheinfo', `160000,${from},vendor/lib`);
  repository.git('commit', '--quiet', '--message', 'after');
  const found = selectSensitive(await listChangedPaths(git, repository.root, { from, to: 'HEAD' }));
  assert.deepEqual(found.map(({ path, kind, change }) => `${path} ${kind} ${change}`).sort(), [
    '.cursorrules agents changed',
    '.envrc tools deleted',
    '.husky/pre-push git hooks changed',
    'AGENTS.md agents added',
    'CLAUDE.md agents deleted',
    'vendor/lib git added',
  ]);
  assert.equal(
    describeSensitive(found.slice(0, 3), 2),
    '.cursorrules (agents), .envrc (tools, deleted), 1 more',
  );
});
