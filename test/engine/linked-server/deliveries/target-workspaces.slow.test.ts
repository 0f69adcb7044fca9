import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { onBothDatabases, type Read, startTestServer } from '../../../support/server/linked-server.ts';
import { fillLists } from '../../../support/server/long-lists.ts';
import { listPageFaults } from '../../../support/server/page-faults.ts';
import { linkByHand } from '../../../support/workspaces/workspace-by-hand.ts';
import { type DeliveryRig, deliveryRig } from './rig.ts';

const WISH = { kind: 'webhook', name: 'mine', url: 'https://93.184.215.14/hook', 'events[]': 'sealed' };
const LARGEST_PAGE = 50 * 1024;

/** Returns what a page shows about the workspaces of its target. */
const readState = ({ text }: Read): string => /<dt>Workspaces<\/dt><dd>(.*?)</.exec(text)?.[1]?.trim() ?? '';
const readError = ({ text }: Read): string => /role="alert">(.*?)</.exec(text)?.[1] ?? '';
/** Returns the machines of the workspaces that a page offers: the selected ones, or all of them. */
const readOffered = ({ text }: Read, { areTicked = false } = {}): string[] =>
  [...text.matchAll(/<input type="checkbox" name="workspaces\[\]"([^>]*)> .*? <span class="dim">on (.*?)</g)]
    .filter(([, attributes = '']) => !areTicked || attributes.includes('checked'))
    .map(([, , machine]) => machine!);

onBothDatabases((start) => {
  describe('the workspaces of a target', () => {
    async function open(body: (rig: DeliveryRig) => Promise<void>): Promise<void> {
      const rig = await deliveryRig(start, { allowTarget: ['93.184.215.14'] });
      try {
        await body(rig);
      } finally {
        await rig.close();
      }
    }
    const add = async ({ ann }: DeliveryRig, more: Record<string, string>): Promise<[Read, string]> => {
      const made = await ann.post('/app/settings/targets', { ...WISH, ...more });
      return [made, /\/app\/settings\/targets\/t_[\w-]+/.exec(made.text)?.[0] ?? ''];
    };

    it("a target's form has checkboxes for few workspaces: all, or only these, and never both", () =>
      open(async (rig) => {
        const { ann, server } = rig;
        assert.doesNotMatch((await ann.get('/app/settings/new?kind=webhook')).text, /scope/);
        const shop = await linkByHand(server, ann, { name: 'shop', key: 'shop' });
        const api = await linkByHand(server, ann, { name: 'api', key: 'api' });
        const form = await ann.get('/app/settings/new?kind=webhook');
        assert.equal(readOffered(form).length, 2);
        assert.deepEqual(await listPageFaults(form.text), []);
        const [both] = await add(rig, { 'workspaces[]': shop.id });
        assert.equal(both.status, 422);
        assert.equal(
          readError(both),
          'some workspaces are ticked: choose only the ticked ones, or untick them',
        );
        assert.equal(readOffered(both, { areTicked: true }).length, 1);
        const [none] = await add(rig, { scope: 'ticked' });
        assert.equal(none.status, 422);
        assert.equal(readError(none), 'tick at least one workspace, or choose all of the account');
        const [strange] = await add(rig, { scope: 'ticked', 'workspaces[]': 'w_of-others' });
        assert.equal(readError(strange), 'choose workspaces from the list');
        const [all] = await add(rig, { scope: 'all' });
        assert.equal(readState(all), 'all of the account');
        const [made, place] = await add(rig, { scope: 'ticked', 'workspaces[]': shop.id });
        assert.equal(readState(made), 'shop');
        assert.deepEqual(await listPageFaults(made.text), []);
        const wish = { ...WISH, url: '', scope: 'ticked' };
        const list: [string, string][] = [
          ...Object.entries(wish),
          ['workspaces[]', shop.id],
          ['workspaces[]', api.id],
        ];
        await ann.post(place, list);
        assert.equal(readState(await ann.get(place)), 'api, shop');
        // Neither removing them nor saving other fields turns it into a target for all.
        for (const { id } of [shop, api]) await ann.post(`/app/workspaces/${id}/remove`);
        assert.equal(readState(await ann.get(place)), 'none, so nothing is sent there');
        assert.equal((await ann.post(place, { ...wish, name: 'other' })).status, 422);
        assert.equal(readState(await ann.get(place)), 'none, so nothing is sent there');
        await ann.post(place, { ...wish, scope: 'all' });
        assert.equal(readState(await ann.get(place)), 'all of the account');
      }));

    it('many workspaces are found and chosen a page at a time', () =>
      open(async (rig) => {
        const { ann, server } = rig;
        const [home] = await server.parts.people.listAccounts();
        await fillLists(server, home!.id, 120);
        assert.match((await ann.get('/app/settings/new?kind=webhook')).text, /name="scope" value="listed"/);
        const [made, place] = await add(rig, { scope: 'listed' });
        assert.equal(readState(made), 'none, so nothing is sent there');
        const path = `${place}/workspaces`;
        assert.ok(made.text.includes(`href="${path}"`));
        const machine = (index: number): string => `machine-${String(index).padStart(4, '0')}`;
        const idOf = (index: number): string => `w_workspace-${String(index).padStart(4, '0')}`;

        const first = await ann.get(path);
        assert.deepEqual(await listPageFaults(first.text), []);
        assert.deepEqual(
          readOffered(first),
          Array.from({ length: 50 }, (_, index) => machine(index)),
        );
        const save = (from: Read, ticked: number[], more: Record<string, string> = {}): Promise<Read> =>
          ann.post(path, [
            ...[...from.text.matchAll(/<input type="hidden" name="(.*?)" value="(.*?)"/g)].map(
              ([, name, value]): [string, string] => [name!, value!],
            ),
            ...ticked.map((index): [string, string] => ['workspaces[]', idOf(index)]),
            ...Object.entries(more),
          ]);
        const saved = await save(first, [3, 7]);
        assert.equal(saved.location, `${path}?said=saved`);
        const next = /<a rel="next" href="(.*?)"/.exec(first.text)![1]!.replaceAll('&amp;', '&');
        const second = await ann.get(next);
        assert.equal(readOffered(second)[0], machine(50));
        const there = await save(second, [60]);
        assert.equal(
          readOffered(await ann.get(there.location!))[0],
          machine(50),
          'the same page as before saving',
        );
        assert.equal(readState(await ann.get(place)), 'shop, shop, shop');
        // Fields that a page does not show stay unchanged.
        await save(await ann.get(path), [7]);
        const chosen = await ann.get(`${path}?chosen=1`);
        assert.deepEqual(readOffered(chosen, { areTicked: true }), [machine(7), machine(60)]);
        assert.deepEqual(readOffered(chosen), [machine(7), machine(60)]);

        const found = await ann.get(`${path}?find=MACHINE-010`);
        assert.deepEqual(
          readOffered(found),
          Array.from({ length: 10 }, (_, index) => machine(100 + index)),
        );
        assert.match(found.text, /Choose all 10 that were found/);
        assert.deepEqual(await listPageFaults(found.text), []);
        await save(found, [], { what: 'choose-found' });
        const named = readState(await ann.get(place));
        assert.equal(named, `${Array(10).fill('shop').join(', ')} and 2 more`);
        await save(await ann.get(`${path}?find=machine-0101`), [], { what: 'leave-found' });
        assert.equal(readOffered(await ann.get(`${path}?chosen=1`)).length, 11);

        // The form only says that they are selected elsewhere.
        await ann.post(place, { ...WISH, url: '', name: 'other', scope: 'listed' });
        assert.equal(readOffered(await ann.get(`${path}?chosen=1`)).length, 11);
        const cleared = await save(await ann.get(`${path}?chosen=1`), []);
        assert.equal(cleared.status, 422);
        assert.equal(readError(cleared), 'choose at least one workspace');
        assert.equal(readOffered(await ann.get(`${path}?chosen=1`)).length, 11);
        await ann.post(place, { ...WISH, url: '', scope: 'all' });
        assert.match((await ann.get(path)).text, /Events of all workspaces of the account go there now/);
        await save(await ann.get(path), [0]);
        assert.equal(readState(await ann.get(place)), 'shop');
      }));

    it('workspaces are searched by any typed text', () =>
      open(async (rig) => {
        const { ann, server } = rig;
        for (const name of ['50% off', 'a_b', 'back\\slash', 'Ämter', 'plain'])
          await linkByHand(server, ann, { name, machine: name, key: Buffer.from(name).toString('hex') });
        const [, place] = await add(rig, { scope: 'all' });
        const find = async (text: string): Promise<string[]> =>
          readOffered(await ann.get(`${place}/workspaces?${new URLSearchParams({ find: text })}`));
        for (const [text, names] of [
          ['%', ['50% off']],
          ['_', ['a_b']],
          ['\\', ['back\\slash']],
          ['Äm', ['Ämter']],
          ['  PLAIN ', ['plain']],
          ["'", []],
          ['<b>', []],
          ['x'.repeat(5000), []],
        ] as const)
          assert.deepEqual(await find(text), names, text);
        assert.equal((await find('')).length, 5);
      }));

    it('two simultaneous choices are both kept, and outsiders change nothing', () =>
      open(async (rig) => {
        const { ann, server } = rig;
        const [home] = await server.parts.people.listAccounts();
        await fillLists(server, home!.id, 60);
        const [, place] = await add(rig, { scope: 'listed' });
        const answers = await Promise.all(
          ['0001', '0002', '0003', '0004'].map((number) =>
            ann.post(`${place}/workspaces`, { 'workspaces[]': `w_workspace-${number}` }),
          ),
        );
        const saved = answers.filter(({ status }) => status === 303).length;
        assert.ok(answers.every(({ status }) => status === 303 || status === 409));
        assert.equal(readOffered(await ann.get(`${place}/workspaces?chosen=1`)).length, saved);
        await ann.post(`${place}/workspaces`, { 'workspaces[]': 'w_of-others' });
        assert.equal(readOffered(await ann.get(`${place}/workspaces?chosen=1`)).length, saved);
      }));
  });
});

it("a thousand workspaces keep a target's page below 50 KB", async () => {
  const rig = await deliveryRig(startTestServer, { allowTarget: ['93.184.215.14'] });
  try {
    const { ann, server } = rig;
    const [home] = await server.parts.people.listAccounts();
    await fillLists(server, home!.id, 1000);
    const made = await ann.post('/app/settings/targets', { ...WISH, scope: 'listed' });
    const place = /\/app\/settings\/targets\/t_[\w-]+/.exec(made.text)![0];
    await ann.post(`${place}/workspaces`, { find: 'shop', what: 'choose-found' });
    for (const path of [
      '/app/settings/new?kind=n8n',
      place,
      `${place}/workspaces`,
      `${place}/workspaces?find=shop`,
    ]) {
      const { status, text } = await ann.get(path);
      assert.equal(status, 200, path);
      assert.ok(Buffer.byteLength(text) < LARGEST_PAGE, `${path}: ${Buffer.byteLength(text)} bytes`);
    }
    assert.match((await ann.get(place)).text, /and 990 more/);
  } finally {
    await rig.close();
  }
});
