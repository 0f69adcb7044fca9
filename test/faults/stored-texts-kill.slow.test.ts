import assert from 'node:assert/strict';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { hashBytes } from '../../engine/knowledge/context/text-files.ts';
import { report } from '../support/processes/faults.ts';
import { makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';

/**
 * Preloaded into a daemon: kills the process with SIGKILL, once, just before or after the rename that puts a file in
 * its place.
 */
const preload = (order: string): string => `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const { renameSync, readFileSync, unlinkSync } = fs;
fs.renameSync = (from, to) => {
  const die = (moment) => {
    let wanted;
    try {
      wanted = readFileSync(${JSON.stringify(order)}, 'utf8').split(' ');
    } catch {
      return;
    }
    if (wanted[0] !== moment || !String(to).endsWith(wanted[1])) return;
    unlinkSync(${JSON.stringify(order)});
    process.kill(process.pid, 'SIGKILL');
  };
  die('before');
  renameSync(from, to);
  die('after');
};
syncBuiltinESMExports();
`;

describe('kill -9 of the engine while it stores a text', () => {
  let ws: TestWorkspace;
  let order: string;
  before(async () => {
    ws = await makeWorkspace();
    order = join(ws.repository.folder, 'die');
    const file = join(ws.repository.folder, 'mortal.mjs');
    writeFileSync(file, preload(order));
    ws.env.NODE_OPTIONS = `--import=${file}`;
  });
  after(() => ws.close());

  for (const moment of ['before', 'after'])
    test(`${moment} its file is in place: no stub names a missing text`, async () => {
      const text = `a text that is stored ${moment} a kill\n`;
      const hash = hashBytes(Buffer.from(text));
      await ws.svc(['up']);
      const died = ws.daemonPid();
      writeFileSync(order, `${moment} ${hash}`);
      const put = () => ws.svc(['context', 'put', '--json'], { input: text });
      assert.notEqual((await put()).code, 0);
      assert.ok(!existsSync(order), 'it is dead');
      const listed = (await ws.svc(['context', 'list', '--json'])).json<{ id: string }[]>();
      assert.notEqual(ws.daemonPid(), died);
      for (const each of listed) assert.equal((await ws.svc(['context', 'get', each.id])).code, 0, each.id);
      const files = readdirSync(join(ws.root, '.svc', 'context'));
      assert.equal(files.length, listed.length, `only listed texts are stored: ${files.join(' ')}`);
      const { id } = (await put()).json<{ id: string }>();
      assert.equal((await ws.svc(['context', 'get', id])).stdout, text);
      report(
        `kill -9 of the engine ${moment} the file of a text was in place`,
        'the call failed; every id that is listed has its text, no file is left over, and the text is stored when it is sent again',
      );
    });
});
