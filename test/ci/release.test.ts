import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { temporaryFolder } from '../support/workspaces/git.ts';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));

interface Step {
  name?: string;
  uses?: string;
  run?: string;
  env?: Record<string, string>;
}
interface Workflow {
  on: unknown;
  permissions: Record<string, string>;
  jobs: Record<string, { needs?: string[]; permissions?: Record<string, string>; steps: Step[] }>;
}

const readWorkflow = (file: string): Workflow => parse(readFileSync(join(PROJECT, file), 'utf8')) as Workflow;
const listSteps = ({ jobs }: Workflow): Step[] => Object.values(jobs).flatMap(({ steps }) => steps);

const release = readWorkflow('.github/workflows/release.yml');
const manifest = readFileSync(join(PROJECT, 'package.json'), 'utf8');

const folder = temporaryFolder('svc-release-');
after(() => rmSync(folder, { recursive: true, force: true }));
writeFileSync(join(folder, 'package.json'), manifest);

/** Runs a step of the release as the code host does, next to a copy of package.json. */
function runStep(name: string, env: Record<string, string>): { status: number | null; stdout: string } {
  const { run } =
    listSteps(release).find((step) => step.name === name) ?? assert.fail(`no step is named ${name}`);
  return spawnSync('bash', ['-e', '-c', run ?? ''], {
    cwd: folder,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
}

test('a release starts with a tag, and is published after all tests', () => {
  assert.deepEqual(release.on, { push: { tags: ['v*'] } });
  assert.deepEqual(release.jobs.publish?.needs, ['test', 'package']);
  assert.ok(release.jobs.test?.steps.some(({ run }) => run === '.ci/run'));
});

test('only the last job of a release may identify itself to the registry, and it runs only npm publish', () => {
  assert.deepEqual(release.permissions, { contents: 'read' });
  const { publish, ...others } = release.jobs;
  assert.deepEqual(publish?.permissions, { 'id-token': 'write' });
  for (const job of Object.values(others)) assert.equal(job.permissions, undefined);
  assert.deepEqual(
    publish?.steps.flatMap(({ run }) => run ?? []),
    ['npm publish ./*.tgz --provenance --access public'],
  );
  assert.ok(!publish?.steps.some(({ uses }) => uses?.startsWith('actions/checkout@')));
  const withSecret = listSteps(release).filter((step) => JSON.stringify(step).includes('secrets.'));
  assert.deepEqual(withSecret, [publish?.steps.at(-1)]);
});

test('a release stops at a tag that differs from the version', () => {
  const { version } = JSON.parse(manifest) as { version: string };
  const compare = (tag: string) => runStep('compare the tag with the version', { GITHUB_REF_NAME: tag });
  assert.equal(compare(`v${version}`).status, 0);
  const { status, stdout } = compare('v99.0.0');
  assert.equal(status, 1);
  assert.equal(stdout, `::error::the tag is v99.0.0, and package.json has v${version}\n`);
});

test('a release names its repository, as its provenance requires', () => {
  assert.equal(runStep('name the repository', { GITHUB_REPOSITORY: 'acme/workshop' }).status, 0);
  const { repository } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    repository: unknown;
  };
  assert.deepEqual(repository, { type: 'git', url: 'git+https://github.com/acme/workshop.git' });
});

test('all workflows use the same version of an action, and only those of the code host', () => {
  const used = new Set(
    globSync('.github/workflows/*.yml', { cwd: PROJECT })
      .flatMap((file) => listSteps(readWorkflow(file)))
      .flatMap(({ uses }) => uses ?? []),
  );
  const names = [...used].map((each) => /^(actions\/[\w-]+)@v\d+$/.exec(each)?.[1] ?? assert.fail(each));
  assert.ok(names.length > 3);
  assert.equal(new Set(names).size, names.length, [...used].join(', '));
});
