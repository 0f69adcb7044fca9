import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  type Browser,
  onBothDatabases,
  setUpServer,
  type TestServer,
} from '../../support/server/linked-server.ts';
import { fillLists, type LongList } from '../../support/server/long-lists.ts';
import { listPageFaults } from '../../support/server/page-faults.ts';

const ROWS = 130;
const LARGEST_PAGE = 50 * 1024;

/** Returns the rows of the list on a page. */
function readRows(text: string, { rows }: LongList): string[] {
  const word = new RegExp(`\\b${rows[0]!.replace(/\d+$/, '')}\\d{4}\\b`);
  return [...text.matchAll(/<tr>(.*?)<\/tr>/gs)].flatMap(([, row = '']) => word.exec(row)?.[0] ?? []);
}

/** Returns the target of a link on the page. */
const findLink = (text: string, rel: 'prev' | 'next'): string | undefined =>
  new RegExp(`<a rel="${rel}" href="(.*?)"`).exec(text)?.[1]?.replaceAll('&amp;', '&');

onBothDatabases((start) => {
  describe('long lists', () => {
    let server: TestServer;
    let ann: Browser;
    let lists: LongList[];
    before(async () => {
      server = await start();
      ann = await setUpServer(server);
      const [home] = await server.parts.people.listAccounts();
      lists = await fillLists(server, home!.id, ROWS);
    });
    after(() => server?.close());

    const open = async (path: string): Promise<string> => {
      const { status, text } = await ann.get(path);
      assert.equal(status, 200, path);
      return text;
    };
    /** Returns the pages of a list, starting at an address and following links of one kind. */
    async function walk(from: string, rel: 'prev' | 'next'): Promise<string[]> {
      const pages: string[] = [];
      for (let path: string | undefined = from; path !== undefined; path = findLink(pages.at(-1)!, rel))
        pages.push(await open(path));
      return pages;
    }

    it('long lists are shown a page at a time, each row once and in order, and the same on the way back', async () => {
      for (const list of lists) {
        const there = await walk(list.path, 'next');
        assert.ok(there.length >= 3, list.path);
        assert.deepEqual(
          there.flatMap((page) => readRows(page, list)),
          list.rows,
          list.path,
        );
        for (const page of there)
          assert.ok(Buffer.byteLength(page) < LARGEST_PAGE, `${list.path}: ${Buffer.byteLength(page)} bytes`);
        // A page with links in both directions.
        assert.deepEqual(await listPageFaults(there[1]!), [], list.path);
        const back = await walk(findLink(there.at(-2)!, 'next')!, 'prev');
        assert.deepEqual(
          back.toReversed().map((page) => readRows(page, list)),
          there.map((page) => readRows(page, list)),
          `${list.path}, back`,
        );
      }
    });

    it('long lists say how many decisions follow, and of how many nothing is shown here', async () => {
      const counts = (await walk('/app', 'next')).map((page) =>
        Number(/(\d+) more decisions? waits? after these/.exec(page)?.[1]),
      );
      assert.deepEqual(counts, [ROWS - 50 + 7, ROWS - 100 + 7, 7]);
    });

    it('an invalid place in a list means its start', async () => {
      const cursor = (key: unknown): string => Buffer.from(JSON.stringify(key)).toString('base64url');
      const strange = [
        '',
        '0',
        'null',
        '%F0%9F%98%80',
        'x'.repeat(5000),
        ...[
          null,
          {},
          [],
          [true],
          [['x']],
          [1e300, 'x'],
          [1.5, 'x'],
          [1, 'a\0b'],
          [{}, []],
          ['x', 1],
          [1, 2, 3, 4],
        ].map(cursor),
      ];
      for (const list of lists.filter(({ path }) => ['/app', '/app/log', '/app/deliveries'].includes(path)))
        for (const name of ['after', 'before'])
          for (const each of strange) {
            const path = `${list.path}${list.path.includes('?') ? '&' : '?'}${name}=${each}`;
            const found = readRows(await open(path), list);
            assert.deepEqual(found, list.rows.slice(0, found.length), path);
          }
    });

    it('a list continues after a last row that is gone', async () => {
      const list = lists.find(({ path }) => path === '/app/log')!;
      const next = findLink(await open(list.path), 'next')!;
      await server.parts.db.deleteFrom('changes').where('id', '=', list.rows[49]!).execute();
      assert.equal(readRows(await open(next), list)[0], list.rows[50]);
      const previous = findLink(await open(next), 'prev')!;
      // The row follows fewer rows than a page holds, so the previous page is the first.
      assert.deepEqual(readRows(await open(previous), list), [...list.rows.slice(0, 49), list.rows[50]]);
    });

    it("an account's list names a few people, and counts the others", async () => {
      const text = await open('/operator?before=none');
      assert.doesNotMatch(text, /person-0002/);
      const home = (await walk('/operator', 'next')).find((page) => page.includes('>home</a>'))!;
      assert.match(home, /ann, person-0000, person-0001 and 128 more/);
    });
  });
});
