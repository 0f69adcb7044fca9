import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { loadCommands } from '../../cli/catalogue.ts';
import type { Command } from '../../cli/command.ts';
import type { Ran } from '../support/workspaces/command-line.ts';
import { makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';

/** Lists without pages, and why. */
const WHOLE: Readonly<Record<string, string>> = {
  'tool list': 'the tools that there are are in the program',
  'hooks list': 'so are the agents with hooks',
};

/** Has `--limit` and shows the best matches, without a next page. */
const SEARCHES: ReadonlySet<string> = new Set([
  'memory recall',
  'context search',
  'graph symbol',
  'graph trace',
  'graph impact',
]);

/** Has `--limit` for another purpose. */
const OTHERS: Readonly<Record<string, string>> = {
  'memory export': 'writes files',
  'context stats': 'sums of all, which the rows are part of',
};

/** Commands without colours and pager, and why. */
const PLAIN: Readonly<Record<string, string>> = {
  'gateway log': 'says whether calls are logged',
  'telemetry show': 'prints the very bytes that are sent',
};

const isList = ({ name }: Command): boolean => / (?:list|inbox|review|deliveries)$/.test(name);
const isReading = ({ name }: Command): boolean =>
  isList({ name } as Command) || / (?:show|log|diff|compare)$/.test(name);
const hasFlag = (command: Command, flag: string): boolean => command.flags?.[flag] !== undefined;

describe('every command', async () => {
  const commands = (await loadCommands()).filter(({ hidden }) => !hidden);

  test('every list command has --limit and --cursor', () => {
    const lists = commands.filter((each) => isList(each) || hasFlag(each, 'limit'));
    const without = lists.filter((each) => !hasFlag(each, 'limit') || !hasFlag(each, 'cursor'));
    assert.deepEqual(
      without.map(({ name }) => name).sort(),
      [...Object.keys(WHOLE), ...SEARCHES, ...Object.keys(OTHERS)].sort(),
    );
  });

  test('every command with long output has colours and a pager', () => {
    const without = commands.filter((each) => isReading(each) && !hasFlag(each, 'color'));
    assert.deepEqual(without.map(({ name }) => name).sort(), Object.keys(PLAIN).sort());
  });
});

describe('pages while rows change', () => {
  let ws: TestWorkspace;
  const run = (line: string): Promise<Ran> => ws.svc(line.split(' '));

  interface Page {
    rows: Record<string, unknown>[];
    next_cursor: string | null;
  }

  /** Reads the first two rows, calls the function, then reads the rest. */
  async function turn(list: string, meanwhile: (page: Page) => Promise<unknown>): Promise<Page[]> {
    const first = (await run(`${list} --limit 2 --cursor start --json`)).json<Page>();
    await meanwhile(first);
    return [first, (await run(`${list} --cursor ${first.next_cursor} --json`)).json<Page>()];
  }

  before(async () => {
    ws = await makeWorkspace({ hosted: true });
  });
  after(() => ws.close());

  test('pages of memories keep their place when the last row is forgotten and others are added', async () => {
    for (const text of ['one', 'two', 'three', 'four', 'five']) await ws.svc(['memory', 'add', text]);
    const [first, second] = await turn('memory list', async ({ next_cursor }) => {
      await ws.svc(['memory', 'forget', String(next_cursor)]);
      await ws.svc(['memory', 'add', 'six']);
    });
    assert.deepEqual(
      [first, second].map((page) => page?.rows.map(({ title }) => title)),
      [
        ['five', 'four'],
        ['three', 'two', 'one'],
      ],
    );
  });

  test('pages of stored texts keep their place when texts are read, which makes them the most recent', async () => {
    const ids: string[] = [];
    for (const text of ['one', 'two', 'three', 'four', 'five']) {
      const file = join(ws.root, `${text}.log`);
      await writeFile(file, text);
      const put = await ws.svc(['context', 'put', file, '--json']);
      ids.push(put.json<{ id: string }>().id);
    }
    const [first, second] = await turn('context list', async () => {
      for (const id of [ids[0], ids[3]]) await ws.svc(['context', 'get', String(id)]);
    });
    assert.deepEqual(
      [first, second].map((page) => page?.rows.map(({ id }) => id)),
      [
        [ids[4], ids[3]],
        [ids[2], ids[1], ids[0]],
      ],
    );
  });

  test('pages of an inbox neither repeat acknowledged messages nor lose others', async () => {
    const send = (body: string): Promise<Ran> => ws.svc(['msg', 'send', body, '--to-session', 'ada']);
    for (const body of ['one', 'two', 'three', 'four', 'five']) await send(body);
    const acknowledge = async ({ rows }: Page): Promise<void> => {
      for (const { id } of rows) await ws.svc(['msg', 'ack', String(id), '--session', 'ada']);
      await send('six');
    };
    const [, unread] = await turn('msg inbox ada', acknowledge);
    assert.deepEqual(
      unread?.rows.map(({ body }) => body),
      ['three', 'four', 'five', 'six'],
    );
    const [newest, older] = await turn('msg inbox ada --all', acknowledge);
    assert.deepEqual(
      [newest, older].map((page) => page?.rows.map(({ body }) => body)),
      [
        ['six', 'five'],
        ['four', 'three', 'two', 'one'],
      ],
    );
  });

  test('pages of locks keep their place when the last path is released, for any name', async () => {
    for (const path of ['start', 'a', 'b', 'zoo', 'ü'])
      await ws.svc(['lock', 'acquire', path, '--holder', 'me']);
    const [, second] = await turn('lock list', async () => {
      await ws.svc(['lock', 'release', 'b', '--holder', 'me']);
      await ws.svc(['lock', 'acquire', 'c', '--holder', 'me']);
    });
    assert.deepEqual(
      second?.rows.map(({ path }) => path),
      ['c', 'start', 'zoo', 'ü'],
    );
    const { next_cursor } = (await run('lock list --limit 3 --cursor start --json')).json<Page>();
    assert.equal(next_cursor, 'chair:start');
    const { rows } = (await run(`lock list --cursor ${next_cursor} --json`)).json<Page>();
    assert.deepEqual(
      rows.map(({ path }) => path),
      ['zoo', 'ü'],
    );
  });

  test('pages of worktrees continue after the branch, even if it was pruned', async () => {
    for (const name of ['s-1', 's-2', 's-10', 's-11']) ws.repository.git('branch', `svc/${name}`);
    const [first, second] = await turn('worktree list', async () =>
      ws.repository.git('branch', '-D', 'svc/s-10'),
    );
    assert.deepEqual(
      [first, second].map((page) => page?.rows.map(({ branch }) => branch)),
      [
        ['svc/s-11', 'svc/s-10'],
        ['svc/s-2', 'svc/s-1'],
      ],
    );
  });
});
