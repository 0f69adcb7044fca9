import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import {
  onBothDatabases,
  openBrowser,
  PASSWORD,
  setUpServer,
  signIn,
} from '../../support/server/linked-server.ts';

onBothDatabases((start) => {
  describe('setting up a server', () => {
    it('the setup needs the code, and creates one operator even when two try', async () => {
      const server = await start();
      try {
        const file = join(server.folder, 'setup-code');
        assert.equal(readFileSync(file, 'utf8').trim(), server.codes[0]);
        assert.equal(statSync(file).mode & 0o777, 0o600);
        const wish = { code: server.codes[0]!.toLowerCase(), password: PASSWORD, account: 'home' };
        const tries = await Promise.all(
          ['ann', 'bob'].map((name) => openBrowser(server).post('/setup', { ...wish, name })),
        );
        assert.deepEqual(tries.map(({ status }) => status).filter((status) => status === 303).length, 1);
        assert.equal((await openBrowser(server).get('/setup')).status, 404);
        assert.equal((await openBrowser(server).post('/setup', wish)).status, 404);
        assert.throws(() => readFileSync(file), { code: 'ENOENT' });
      } finally {
        await server.close();
      }
    });

    it('the setup prints a new code after ten wrong ones', async () => {
      const server = await start();
      try {
        const browser = openBrowser(server);
        for (let tried = 0; tried < 10; tried += 1) {
          const answer = await browser.post('/setup', {
            code: `WRNG-${tried}`,
            name: 'eve',
            password: PASSWORD,
          });
          assert.equal(answer.status, 403);
        }
        assert.equal(server.codes.length, 2);
        const old = await browser.post('/setup', { code: server.codes[0]!, name: 'eve', password: PASSWORD });
        assert.equal(old.status, 403);
        const ann = await setUpServer(server);
        assert.equal((await ann.get('/app')).status, 200);
      } finally {
        await server.close();
      }
    });

    it('an interrupted setup leaves nothing behind, and the next person can finish it', async () => {
      const server = await start();
      try {
        const { db, passwords } = server.parts;
        const { store } = passwords;
        const [asked, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        passwords.store = async (password) => {
          passwords.store = store;
          asked.resolve();
          await goesOn.promise;
          return store(password);
        };
        const wish = { code: server.codes[0]!, password: PASSWORD, account: 'home' };
        const slow = openBrowser(server).post('/setup', { ...wish, name: 'bob' });
        await asked.promise;
        // A server that is killed here has changed nothing.
        assert.deepEqual(await db.selectFrom('accounts').selectAll().execute(), []);
        assert.equal((await openBrowser(server).post('/setup', { ...wish, name: 'ann' })).status, 303);
        goesOn.resolve();
        const late = await slow;
        assert.equal(late.status, 409);
        assert.match(late.text, /the setup code was used in the meantime/);
        assert.deepEqual(
          (await server.parts.people.list()).map(({ name }) => name),
          ['ann'],
        );
      } finally {
        await server.close();
      }
    });

    it('the setup stays open when the password is refused', async () => {
      const server = await start();
      try {
        const browser = openBrowser(server);
        const short = { code: server.codes[0]!, name: 'ann', password: 'short', account: 'the shop' };
        const refused = await browser.post('/setup', short);
        assert.equal(refused.status, 422);
        // Valid fields keep their values, and the account keeps its name.
        for (const kept of [short.code, short.name, short.account])
          assert.ok(refused.text.includes(`value="${kept}"`), kept);
        assert.ok(!refused.text.includes('value="short"'));
        const wrong = await browser.post('/setup', { ...short, code: 'WRNG' });
        assert.match(wrong.text, /value="the shop"/);
        assert.doesNotMatch(wrong.text, /WRNG/);
        assert.equal((await browser.post('/setup', { ...short, password: PASSWORD })).status, 303);
      } finally {
        await server.close();
      }
    });
  });

  it('names may be in any script, and none may resemble another by invisible marks', async () => {
    const server = await start();
    try {
      await setUpServer(server);
      const { people } = server.parts;
      const { id: account } = await people.findAccount('home');
      await server.parts.plans.set('free', 'people', 'none', 'a test');
      const add = (name: string) =>
        people.add({ name, account, role: 'member', isOperator: false, password: null }, 'ann');
      for (const name of ['नितिन', 'ธีรพงษ์', 'Zoë', 'Nguyễn Văn A.', 'يُوسُف', '山田_太郎', 'o-2']) {
        const added = await add(name);
        assert.equal((await people.find(name.normalize('NFD').toUpperCase())).id, added.id, name);
      }
      const refused = [
        ...[
          'bob\u034f',
          'bob\ufe0f',
          'bob\u200d',
          'b\u00adob',
          'bob\u202e',
          'bo\u0301\u0302\u0303\u0304\u0305b',
        ],
        ...['\u0301bob', 'bob \u0301', '-bob', '', 'b@b', 'b/b', 'b\nb', 'x'.repeat(49)],
      ];
      for (const name of refused)
        await assert.rejects(add(name), { code: 'fields_invalid' }, JSON.stringify(name));
    } finally {
      await server.close();
    }
  });

  describe('signing in', () => {
    it('signing in creates a new session each time, which signing out ends', async () => {
      const server = await start();
      try {
        await setUpServer(server);
        const browser = openBrowser(server);
        browser.cookies.set('svc', 'a-fixed-session-of-somebody-else');
        const answer = await browser.post('/sign-in', { name: 'ANN', password: PASSWORD, next: '/device' });
        assert.equal(answer.location, '/device');
        assert.notEqual(browser.cookies.get('svc'), 'a-fixed-session-of-somebody-else');
        assert.match(answer.headers.get('set-cookie') ?? '', /HttpOnly; SameSite=Lax/);
        const kept = browser.cookies.get('svc')!;
        await browser.post('/sign-out');
        browser.cookies.set('svc', kept);
        assert.equal((await browser.get('/app')).location, '/sign-in?next=%2Fapp');
      } finally {
        await server.close();
      }
    });

    it('a wrong name and a wrong password get the same answer', async () => {
      const server = await start();
      try {
        await setUpServer(server);
        const wrong = await openBrowser(server).post('/sign-in', { name: 'ann', password: 'x'.repeat(12) });
        const unknown = await openBrowser(server).post('/sign-in', { name: 'eve', password: 'x'.repeat(12) });
        assert.equal(wrong.status, 403);
        assert.equal(unknown.status, 403);
        assert.equal(wrong.text.replace('value="ann"', ''), unknown.text.replace('value="eve"', ''));
      } finally {
        await server.close();
      }
    });

    it('five failures cause a pause, twice as long each time, and at most a quarter of an hour', async () => {
      const server = await start();
      try {
        await setUpServer(server);
        const guess = () => openBrowser(server).post('/sign-in', { name: 'ann', password: 'wrong password' });
        const answers = await Promise.all(Array.from({ length: 12 }, guess));
        assert.equal(answers.filter(({ status }) => status === 403).length, 5);
        const waits: number[] = [];
        for (let tried = 0; tried < 8; tried += 1) {
          const refused = await guess();
          assert.equal(refused.status, 429);
          const wait = Number(refused.headers.get('retry-after'));
          waits.push(wait);
          server.clock.advance(wait * 1000);
          assert.equal((await guess()).status, 403);
        }
        assert.deepEqual(waits, [15, 30, 60, 120, 240, 480, 900, 900]);
        server.clock.advance(900_000);
        const right = await openBrowser(server).post('/sign-in', { name: 'ann', password: PASSWORD });
        assert.equal(right.status, 303);
      } finally {
        await server.close();
      }
    });

    it('signing in redirects to pages of this server only', async () => {
      const server = await start();
      try {
        await setUpServer(server);
        for (const next of [
          '//evil.example',
          'https://evil.example',
          '/\\evil.example',
          'javascript:1',
          '/\nx',
        ]) {
          const answer = await openBrowser(server).post('/sign-in', {
            name: 'ann',
            password: PASSWORD,
            next,
          });
          assert.equal(answer.location, '/app', next);
        }
      } finally {
        await server.close();
      }
    });

    it('a session ends after seven quiet days, and after thirty in any case', async () => {
      const server = await start();
      try {
        const ann = await setUpServer(server);
        const day = 24 * 3600_000;
        for (let passed = 0; passed < 29; passed += 1) {
          server.clock.advance(day);
          assert.equal((await ann.get('/app')).status, 200);
        }
        server.clock.advance(2 * day);
        assert.equal((await ann.get('/app')).status, 303);
        const again = await signIn(server, 'ann');
        server.clock.advance(7 * day + 1000);
        assert.equal((await again.get('/app')).status, 303);
      } finally {
        await server.close();
      }
    });
  });

  describe('people of an account', () => {
    it('people are invited by an address that works once, and viewing it changes nothing', async () => {
      const server = await start();
      try {
        const ann = await setUpServer(server);
        const page = await ann.post('/app/people', { name: 'bob', role: 'member' });
        const path = /\/invitation\/[\w-]+/.exec(page.text)![0];
        const guest = openBrowser(server);
        for (let looked = 0; looked < 3; looked += 1) assert.equal((await guest.get(path)).status, 200);
        const taken = await Promise.all(
          Array.from({ length: 2 }, () => openBrowser(server).post(path, { password: PASSWORD })),
        );
        assert.deepEqual(taken.map(({ status }) => status).sort(), [303, 404]);
        assert.equal((await guest.get(path)).status, 404);
        assert.equal((await (await signIn(server, 'bob')).get('/app')).status, 200);
      } finally {
        await server.close();
      }
    });

    it('a person who cannot be added is explained, with the typed text', async () => {
      const server = await start();
      try {
        const ann = await setUpServer(server);
        const taken = await ann.post('/app/people', { name: 'Ann', role: 'admin' });
        assert.equal(taken.status, 409);
        assert.match(taken.text, /&quot;Ann&quot; is taken: choose another name/);
        assert.match(taken.text, /value="Ann"/);
        assert.match(taken.text, /<option value="admin" selected/);
        const account = await ann.post('/operator/accounts', { account: 'the shop', name: '<b>' });
        assert.equal(account.status, 422);
        assert.match(account.text, /value="the shop"/);
        assert.match(account.text, /value="&lt;b&gt;"/);
      } finally {
        await server.close();
      }
    });

    it('an invitation expires after three days', async () => {
      const server = await start();
      try {
        const ann = await setUpServer(server);
        const page = await ann.post('/app/people', { name: 'bob', role: 'member' });
        server.clock.advance(72 * 3600_000);
        const path = /\/invitation\/[\w-]+/.exec(page.text)![0];
        assert.equal((await openBrowser(server).post(path, { password: PASSWORD })).status, 404);
      } finally {
        await server.close();
      }
    });

    it("a changed role or password ends a person's sessions", async () => {
      const server = await start();
      try {
        const ann = await setUpServer(server);
        const page = await ann.post('/app/people', { name: 'bob', role: 'admin' });
        await openBrowser(server).post(/\/invitation\/[\w-]+/.exec(page.text)![0], { password: PASSWORD });
        const bob = await signIn(server, 'bob');
        const id = /\/app\/people\/(p_[\w-]+)\/make-member" *>?.{0,120}bob/s.exec(
          (await ann.get('/app/people')).text,
        )![1];
        await ann.post(`/app/people/${id}/make-member`);
        assert.equal((await bob.get('/app')).status, 303);
        const [one, other] = [await signIn(server, 'bob'), await signIn(server, 'bob')];
        const changed = await one.post('/app/password', { old: PASSWORD, password: 'another long password' });
        assert.equal(changed.location, '/app/sign-ins?said=password');
        assert.equal((await one.get('/app')).status, 200);
        assert.equal((await other.get('/app')).status, 303);
      } finally {
        await server.close();
      }
    });

    it('people see nothing of another account, and the last admin stays', async () => {
      const server = await start();
      try {
        const ann = await setUpServer(server);
        const made = await ann.post('/operator/accounts', { account: 'other', name: 'carl' });
        await openBrowser(server).post(/\/invitation\/[\w-]+/.exec(made.text)![0], { password: PASSWORD });
        const carl = await signIn(server, 'carl');
        const people = (await ann.get('/app/people')).text;
        const annId = /\/app\/people\/(p_[\w-]+)\/invite/.exec(people)![1];
        assert.doesNotMatch((await carl.get('/app/people')).text, /ann/);
        for (const what of ['invite', 'make-member', 'remove'])
          assert.equal((await carl.post(`/app/people/${annId}/${what}`)).status, 404, what);
        for (const path of ['/operator', '/operator/accounts/x/remove'])
          assert.equal((await carl.get(path)).status, 404, path);
        assert.equal((await carl.post('/operator/accounts', { account: 'x', name: 'y' })).status, 404);
        assert.equal((await ann.post(`/app/people/${annId}/remove`)).status, 409);
        assert.equal((await ann.post(`/app/people/${annId}/make-member`)).status, 409);
      } finally {
        await server.close();
      }
    });
  });
});
