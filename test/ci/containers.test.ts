import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string): string => readFileSync(join(PROJECT, path), 'utf8');

interface Instruction {
  name: string;
  text: string;
}

/** Lists the instructions of a Containerfile, with continued lines joined. */
const parseContainerfile = (path: string): Instruction[] =>
  read(path)
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', text = ''] = /^(\w+)\s+(.*)$/.exec(line) ?? assert.fail(line);
      return { name, text };
    });

const { name, version, engines, devDependencies, bin } = JSON.parse(read('package.json')) as {
  name: string;
  version: string;
  engines: { node: string };
  devDependencies: { node: string };
  bin: { svc: string };
};

const FILES = [
  { path: 'docs/team/Containerfile', page: 'docs/team/server.md', volume: '/data' },
  {
    path: 'docs/operate/devcontainer/Containerfile',
    page: 'docs/operate/platforms.md',
    volume: '/home/node',
  },
];

for (const { path, page, volume } of FILES)
  describe(path, () => {
    const all = parseContainerfile(path);
    const last = all.slice(all.findLastIndex(({ name }) => name === 'FROM'));
    const textOf = (name: string): string[] =>
      last.filter((each) => each.name === name).map(({ text }) => text);

    test('every stage is made of the Node that the tests run with', () => {
      const major = devDependencies.node.split('.')[0];
      assert.equal(all[0]?.text, `BASE=docker.io/library/node:${major}-slim`);
      for (const { text } of all.filter(({ name }) => name === 'FROM')) assert.match(text, /^\$\{BASE\}/);
      assert.ok(Number(major) >= Number(/\d+/.exec(engines.node)?.[0]));
    });

    test('the program runs as a number that is not root, and has one volume', () => {
      const users = textOf('USER');
      assert.equal(users.length, 1);
      assert.match(users[0] ?? '', /^[1-9]\d*:[1-9]\d*$/);
      assert.deepEqual(textOf('VOLUME'), [volume]);
      const at = last.findIndex(({ name }) => name === 'USER');
      assert.ok(
        last.slice(at).every(({ name }) => name !== 'RUN' && name !== 'COPY'),
        'nothing is built after',
      );
    });

    test('the last stage gets svc from the first, where the package and the cache of npm stay', () => {
      assert.deepEqual(
        all
          .filter(({ name, text }) => name === 'COPY' && !text.startsWith('--from='))
          .map(({ text }) => text),
        [`${name}-*.tgz /tmp/`],
      );
      const [copy = ''] = textOf('COPY');
      const [, folder = ''] = /^--from=package (\S+\/node_modules\/svc) /.exec(copy) ?? [];
      const link = textOf('RUN').find((text) => text.includes('/usr/local/bin/svc')) ?? '';
      assert.ok(link.includes(`${folder.replace('/usr/local/', '../')}/${bin.svc}`), link);
    });

    test('its page shows how to build and run it', () => {
      const text = read(page);
      assert.ok(text.includes(`-f ${path} .`), 'the command that builds it');
      assert.ok(text.includes(`${name}-${version}.tgz`), 'the package');
      const run = /^podman run .*$/gm.exec(text)?.[0] ?? '';
      for (const option of ['--cap-drop=ALL', '--security-opt no-new-privileges', `:${volume}`])
        assert.ok(run.includes(option), option);
    });
  });

test('the container of the server asks /healthz for its health', () => {
  const [check] = parseContainerfile('docs/team/Containerfile').filter(({ name }) => name === 'HEALTHCHECK');
  const start = parseContainerfile('docs/team/Containerfile').find(({ name }) => name === 'ENTRYPOINT')?.text;
  const port = /--addr", "0\.0\.0\.0:(\d+)"/.exec(start ?? '')?.[1];
  assert.ok(check?.text.includes(`http://127.0.0.1:${port}/healthz`), check?.text);
});

test('the engine of a container ends its workers at a stop', () => {
  const words = parseContainerfile('docs/operate/devcontainer/Containerfile');
  const found = ['ENTRYPOINT', 'CMD'].flatMap((name) =>
    JSON.parse(words.find((each) => each.name === name)?.text ?? '[]'),
  );
  assert.deepEqual(found, ['svc', 'daemon', '--stop-workers']);
});

test('the development container is built from its Containerfile, and keeps the home that the Containerfile names', () => {
  const folder = 'docs/operate/devcontainer';
  const made = JSON.parse(read(`${folder}/devcontainer.json`));
  assert.ok(existsSync(join(PROJECT, folder, made.build.dockerfile)));
  assert.ok(made.mounts.some((mount: string) => mount.includes('target=/home/node,')));
  assert.equal(made.init, true);
});
