import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { openLog } from '../../../../engine/core/base/log.ts';
import { until } from '../../../support/wait.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';

describe('the log of the engine', () => {
  test('the log continues in its newest file, starts another at 10 MiB with no line cut, and keeps six', async (t) => {
    const data = temporaryFolder();
    t.after(() => rmSync(data, { recursive: true }));
    const file = (number: number): string => join(data, 'log', `engine.${number}.log`);
    const names = (): string[] => readdirSync(join(data, 'log')).sort();
    openLog(data).close();
    await until(() => names().length === 1, 'the first file');
    for (const number of [3, 4, 5, 6, 7, 8]) writeFileSync(file(number), '');
    truncateSync(file(8), 10 * 1024 ** 2 - 50);

    const { log, close } = openLog(data);
    // Lines go to the old file until the new one is open.
    await until(() => {
      log.info('a line');
      return (statSync(file(9), { throwIfNoEntry: false })?.size ?? 0) > 0;
    }, 'a line in the next file');
    close();
    assert.deepEqual(
      names(),
      [4, 5, 6, 7, 8, 9].map((number) => `engine.${number}.log`),
    );
    assert.match(readFileSync(file(8), 'utf8'), /"a line"\}\n$/);
    assert.match(readFileSync(file(9), 'utf8'), /^(?:\{[^\n]*"a line"\}\n)+$/);
    assert.equal(statSync(file(9)).mode & 0o777, 0o600);
  });
});
