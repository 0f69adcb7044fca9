// Who may import whom. Imports of types count like all others: `npm run check` names the offender and its rule.
// `.ci/imports.js` adds a rule: neighbours do not import each other.

/**
 * The groups of the engine from the ground up, and the modules inside a group. Each imports only those before it. A group
 * without a list is one module.
 */
const GROUPS = {
  core: ['base', 'models', 'api', 'workspace', 'http', 'link-protocol', 'access'],
  storage: [],
  forge: [],
  workers: ['sessions', 'agents', 'runner'],
  board: ['review', 'retention', 'stats'],
  bus: ['hooks'],
  dispatch: [],
  'pull-requests': [],
  receiver: [],
  sources: [],
  notify: [],
  'linked-server': [],
  link: [],
  gateway: [],
  knowledge: [],
  fleet: ['wire', 'hosts', 'machine'],
  config: [],
  daemon: [],
};

const names = Object.keys(GROUPS);
const listAbove = (list, name) => list.slice(list.indexOf(name) + 1);

/** Every module: a folder of a group that has modules, or the group itself. */
const MODULE = `(?:(?:core|workers)/[^/]+|board/(?:${GROUPS.board.join('|')})|bus/(?:${GROUPS.bus.join('|')})|[^/]+)`;

export default {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    ...names.slice(0, -1).map((name) => ({
      name: `${name}-imports-downwards`,
      comment: `the groups above ${name} reach it as constructor arguments of engine/daemon/compose/`,
      severity: 'error',
      from: { path: `^engine/${name}/` },
      to: { path: `^engine/(?:${listAbove(names, name).join('|')})/` },
    })),
    ...Object.entries(GROUPS).flatMap(([group, modules]) =>
      modules.slice(0, -1).map((name) => ({
        name: `${group}-${name}-imports-downwards`,
        severity: 'error',
        from: { path: `^engine/${group}/${name}/` },
        to: { path: `^engine/${group}/(?:${listAbove(modules, name).join('|')})/` },
      })),
    ),
    {
      name: 'modules-know-no-composition',
      comment: 'a module gets what it needs as constructor arguments',
      severity: 'error',
      from: { path: '^engine/[^/]+/', pathNot: '^engine/daemon/' },
      to: { path: '^engine/[^/]+[.]ts$' },
    },
    {
      name: 'through-the-index',
      comment: 'another module is imported by its index.ts, its config.ts where sections are put together',
      severity: 'error',
      // Doors let clients in where no engine answers.
      from: { path: `^engine/(${MODULE})/`, pathNot: '^engine/daemon/(?:doors|compose)/' },
      to: {
        path: '^engine/[^/]+/',
        pathNot: [
          '^engine/$1/',
          // Ground that has no index: each file stands alone.
          '^engine/core/(?!models/)[^/]+/',
          '/index[.]ts$',
          '/config[.]ts$',
          '^engine/workers/runner/processes/own[.]ts$',
        ],
      },
    },
    {
      name: 'git-runs-with-overrides',
      comment: 'createGit is the only way to git: it keeps it from running what a worker has configured',
      severity: 'error',
      from: {
        path: '^engine/',
        pathNot: '^engine/workers/runner/worktrees/git/(?:create-git|checked-out)[.]ts$',
      },
      to: { path: '^engine/workers/runner/worktrees/git/run-git[.]ts$' },
    },
    {
      name: 'the-linked-server-stands-alone',
      comment: 'it uses nothing of a workspace, and nothing of a workspace imports it',
      severity: 'error',
      from: { path: '^engine/linked-server/' },
      to: {
        path: '^engine/',
        pathNot:
          '^engine/(?:core/(?:base|http|link-protocol|platform)|linked-server)/|^engine/(?:storage|notify/sending)/index[.]ts$',
      },
    },
    {
      name: 'nothing-needs-the-linked-server',
      severity: 'error',
      from: { path: '^engine/', pathNot: '^engine/(?:linked-server/|index[.]ts$)' },
      to: { path: '^engine/linked-server/' },
    },
    {
      name: 'dispatch-decides-and-the-runner-acts',
      comment:
        'what a run does on a machine goes through the Runner of engine/workers/runner/runs, which another machine may implement',
      severity: 'error',
      from: { path: '^engine/dispatch/' },
      to: {
        path: '^engine/workers/runner/|^(?:node:)?(?:fs|child_process|net|os|path)(?:/|$)',
        pathNot: '^engine/workers/runner/(?:runs/)?index[.]ts$',
      },
    },
    {
      name: 'engine-is-headless',
      severity: 'error',
      from: { path: '^engine/' },
      to: { path: '^(?:cli|tui|fixtures|test)/|node_modules/(?:ink|react|meow)(?:/|-)' },
    },
    {
      name: 'faces-use-the-door',
      comment: 'texts, errors and files of engine/core/base/ and platform/ know nothing of an engine',
      severity: 'error',
      from: { path: '^(?:cli|tui)/', pathNot: '^cli/(?:hooks/|svc[.]ts$)' },
      to: { path: '^engine/', pathNot: '^engine/(?:index[.]ts$|core/(?:base|platform)/)' },
    },
    {
      name: 'the-entry-point-loads-the-loader-only',
      comment: 'everything else is loaded with kept code',
      severity: 'error',
      from: { path: '^cli/svc[.]ts$' },
      to: { path: '^engine/', pathNot: '^engine/core/base/(?:compile-cache|load-program)[.]ts$' },
    },
    {
      name: 'hooks-use-the-door-or-one-call',
      comment: 'what runs at every tool call of every agent loads as little as can be',
      severity: 'error',
      from: { path: '^cli/hooks/' },
      to: {
        path: '^engine/',
        pathNot: '^engine/(?:(?:index|daemon/one-call)[.]ts$|core/(?:base|platform)/)',
      },
    },
    {
      name: 'dashboard-knows-no-commands',
      severity: 'error',
      from: { path: '^tui/' },
      to: { path: '^cli/' },
    },
    {
      name: 'commands-load-the-dashboard-late',
      comment: 'scripts never load React',
      severity: 'error',
      from: { path: '^cli/' },
      to: { path: '^tui/', dependencyTypesNot: ['dynamic-import', 'type-only'] },
    },
    {
      name: 'nothing-needs-tests',
      severity: 'error',
      from: { path: '^(?:cli|tui|engine)/' },
      to: { path: '^(?:test|fixtures)/' },
    },
    {
      name: 'fixtures-stand-alone',
      comment: 'they play other programs; what they import of this one are types',
      severity: 'error',
      from: { path: '^fixtures/' },
      to: { path: '^(?:cli|tui|engine|test)/', dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(?:^|/)dist/' },
  },
};
