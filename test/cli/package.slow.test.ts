import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gitEnvironment, temporaryFolder } from '../support/workspaces/git.ts';

const project = fileURLToPath(new URL('../../../', import.meta.url));

interface Locked {
  name?: string;
  version?: string;
  dev?: boolean;
}

const jsonIn = <T>(path: string): T => JSON.parse(readFileSync(path, 'utf8')) as T;

/** Every package that an install may contain, as name@version. npm uses other folders if none is for development. */
function lockedPackages(): Set<string> {
  const { packages } = jsonIn<{ packages: Record<string, Locked> }>(join(project, 'npm-shrinkwrap.json'));
  return new Set(
    Object.entries(packages).flatMap(([path, { name = path.split('node_modules/').at(-1), version, dev }]) =>
      path === '' || dev ? [] : [`${name}@${version}`],
    ),
  );
}

function installedPackages(root: string): string[] {
  return globSync('**/node_modules/{@*/*,[!@.]*}/package.json', { cwd: root }).map((path) => {
    const { name, version } = jsonIn<Locked>(join(root, path));
    return `${name}@${version}`;
  });
}

describe('the packed package', () => {
  const folder = temporaryFolder();
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('the package, installed globally, runs the main job from an empty folder', {
    timeout: 180_000,
  }, () => {
    // Keeps the location of npm's settings: the machine's own may not be next to this node.
    const inherited = Object.entries(gitEnvironment()).filter(
      ([name]) => !/^(SVC_|npm_(?!config_(global|user)config$))/i.test(name),
    );
    const prefix = join(folder, 'global');
    const env = {
      ...Object.fromEntries(inherited),
      PATH: [join(prefix, 'bin'), dirname(process.execPath), process.env.PATH].join(delimiter),
      SVC_HOME: join(folder, 'home'),
    };
    const run = (cwd: string, command: string, ...args: string[]) =>
      execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    // The suite has already built it; another build would remove files that concurrent tests use.
    run(project, 'npm', 'pack', '--ignore-scripts', '--pack-destination', folder);
    const packed =
      readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? assert.fail('nothing was packed');
    const content = run(folder, 'tar', '-tzf', packed).split('\n');
    assert.ok(content.includes('package/npm-shrinkwrap.json'), 'an install gets the tested versions');
    assert.ok(content.includes('package/dist/bin/THIRD-PARTY.txt'), 'licences of bundled packages');
    assert.deepEqual(
      content.filter((path) => path.endsWith('.js') && !path.startsWith('package/dist/bin/')),
      [],
      'only the programs contain code',
    );
    run(
      folder,
      'npm',
      'install',
      '--global',
      '--prefix',
      prefix,
      '--prefer-offline',
      '--no-audit',
      '--no-fund',
      join(folder, packed),
    );
    const installed = installedPackages(join(prefix, 'lib', 'node_modules', 'svc'));
    const locked = lockedPackages();
    assert.ok(
      installed.some((each) => each.startsWith('better-sqlite3@')),
      `installed packages: ${installed}`,
    );
    assert.deepEqual(
      installed.filter((each) => !locked.has(each)),
      [],
      'an install gets the tested versions, without development packages',
    );
    const empty = join(folder, 'empty');
    mkdirSync(empty);
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    assert.equal(run(empty, 'svc', '--version'), `${version}\n`);
    assert.match(run(empty, 'svc', 'demo', '--auto'), /t-1 is done; the automation received "sealed"/);
    assert.match(run(empty, 'svc', 'demo', '--link'), /d-2 is approved, by n8n@automation; t-2 is done/);
    const library = "import('svc').then(({ openEngine }) => console.log(typeof openEngine))";
    assert.equal(
      run(join(prefix, 'lib'), 'node', '-e', library),
      'function\n',
      'svc can be imported as a library',
    );
    run(empty, 'svc', 'init', '--yes');
    run(empty, 'svc', 'config', 'check');
    assert.deepEqual(readdirSync(empty), ['svc.yaml']);
  });
});
