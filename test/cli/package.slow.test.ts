import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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

const { name, version, dependencies } = jsonIn<{
  name: string;
  version: string;
  dependencies: Record<string, string>;
}>(join(project, 'package.json'));

/** The names of the packages that an install may contain. npm uses other folders if none is for development. */
function lockedPackages(): Set<string> {
  const { packages } = jsonIn<{ packages: Record<string, Locked> }>(join(project, 'package-lock.json'));
  return new Set(
    Object.entries(packages).flatMap(([path, { name = path.split('node_modules/').at(-1), dev }]) =>
      path === '' || dev || name === undefined ? [] : [name],
    ),
  );
}

function installedPackages(root: string): string[] {
  return globSync('**/node_modules/{@*/*,[!@.]*}/package.json', { cwd: root }).map((path) => {
    const { name, version } = jsonIn<Locked>(join(root, path));
    return `${name}@${version}`;
  });
}

/** Compiles only if the types of the package can be read. */
const CLIENT = `import { type Api, openEngine } from '${name}';
export const open = async (): Promise<string> => (await openEngine({ file: 'svc.yaml' })).root;
export const countTasks = ({ tasks }: Api['task.list']['output']): number => tasks.length;
// @ts-expect-error: a list of tasks is not a text
export const text: Api['task.list']['output'] = '';
`;

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
    run(
      folder,
      'npm',
      'install',
      '--global',
      '--ignore-scripts',
      '--prefix',
      prefix,
      '--prefer-offline',
      '--no-audit',
      '--no-fund',
      join(folder, packed),
    );
    const installed = installedPackages(join(prefix, 'lib', 'node_modules', name));
    const locked = lockedPackages();
    assert.deepEqual(
      Object.entries(dependencies).filter(([each, tested]) => !installed.includes(`${each}@${tested}`)),
      [],
      'an install gets the tested versions of everything that runs',
    );
    assert.deepEqual(
      installed.filter((each) => !locked.has(each.slice(0, each.lastIndexOf('@')))),
      [],
      'an install gets no development packages',
    );
    const empty = join(folder, 'empty');
    mkdirSync(empty);
    assert.equal(run(empty, 'svc', '--version'), `${version}\n`);
    assert.match(run(empty, 'svc', 'demo', '--auto'), /t-1 is done; the automation received "sealed"/);
    assert.match(run(empty, 'svc', 'demo', '--link'), /d-2 is approved, by n8n@automation; t-2 is done/);
    const library = `import('${name}').then(({ openEngine }) => console.log(typeof openEngine))`;
    assert.equal(
      run(join(prefix, 'lib'), 'node', '-e', library),
      'function\n',
      'svc can be imported as a library',
    );
    const client = join(folder, 'client.ts');
    writeFileSync(client, CLIENT);
    mkdirSync(join(folder, 'node_modules'));
    for (const [module, at] of [
      [name, join(prefix, 'lib/node_modules', name)],
      ['zod', join(project, 'node_modules/zod')],
    ] as const)
      symlinkSync(at, join(folder, 'node_modules', module));
    const options = '--noEmit --ignoreConfig --strict --skipLibCheck --module nodenext --typeRoots';
    const types = join(project, 'node_modules', '@types');
    run(
      folder,
      join(project, 'node_modules/.bin/tsc'),
      ...options.split(' '),
      types,
      '--types',
      'node',
      client,
    );
    run(empty, 'svc', 'init', '--yes');
    run(empty, 'svc', 'config', 'check');
    assert.deepEqual(readdirSync(empty), ['svc.yaml']);
  });
});
