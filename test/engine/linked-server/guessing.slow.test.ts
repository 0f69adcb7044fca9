import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import {
  onBothDatabases,
  openBrowser,
  PASSWORD,
  setUpServer,
  signIn,
  type TestServer,
} from '../../support/server/linked-server.ts';

const DAY = 24 * 3600_000;

const open: TestServer[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

const guess = (server: TestServer, name = 'ann', headers: Record<string, string> = {}) =>
  openBrowser(server).post('/sign-in', { name, password: 'wrong wrong' }, headers);

onBothDatabases((start) => {
  async function openServer(options: Parameters<typeof start>[0] = {}): Promise<TestServer> {
    const server = await start(options);
    open.push(server);
    return server;
  }

  it("a person with a valid code may not guess others' codes for ever", async () => {
    const server = await openServer();
    const ann = await setUpServer(server);
    const look = async (code: string) => (await ann.post('/device', { user_code: code })).status;
    const started = await openBrowser(server).post('/oauth/device_authorization', { client_id: 'svc' });
    const { user_code: own } = JSON.parse(started.text) as { user_code: string };
    for (let wrong = 0; wrong < 9; wrong += 1) assert.equal(await look('BCDF-GHJK'), 404);
    for (let right = 0; right < 3; right += 1) assert.equal(await look(own), 200);
    assert.equal(await look('BCDF-GHJK'), 404);
    assert.equal(await look('BCDF-GHJK'), 429);
    assert.equal(await look(own), 429);
    server.clock.advance(15 * 60_000 + 1);
    assert.equal(await look('BCDF-GHJK'), 404);
  });

  it('a clock that is set back makes no one wait longer than the rule says', async () => {
    const server = await openServer();
    await setUpServer(server);
    const now = server.clock.now();
    server.clock.set(now + 365 * DAY);
    for (let tries = 0; tries < 6; tries += 1) await guess(server);
    assert.equal((await guess(server)).status, 429);
    server.clock.set(now);
    assert.notEqual((await signIn(server, 'ann')).cookies.size, 0);
    for (let tries = 0; tries < 5; tries += 1) assert.equal((await guess(server)).status, 403);
    assert.equal((await guess(server)).status, 429);
  });

  it('a name has one guess limit in all of its spellings', async () => {
    const server = await openServer();
    await setUpServer(server);
    const answers = [];
    for (const name of ['ann', ' ann', 'Ann ', '\u00a0ANN\t', '\uff41nn', '  ann  ', 'ann\u3000'])
      answers.push((await guess(server, name)).status);
    assert.deepEqual(answers, [403, 403, 403, 403, 403, 429, 429]);
    // After the wait, each spelling of the right name works.
    server.clock.advance(15_000);
    const fields = { name: ' \uff21nn ', password: PASSWORD };
    assert.equal((await openBrowser(server).post('/sign-in', fields)).status, 303);
  });

  it('passwords of one network are compared few at a time, and delay other networks no longer', async () => {
    const server = await openServer({ publicUrl: 'https://svc.example.org', trustProxy: ['127.0.0.1'] });
    await setUpServer(server);
    const { passwords } = server.parts;
    const { matches } = passwords;
    const goOn = Promise.withResolvers<void>();
    const eighth = Promise.withResolvers<void>();
    let compared = 0;
    passwords.matches = async (...given) => {
      compared += 1;
      if (compared === 8) eighth.resolve();
      if (compared <= 8) await goOn.promise;
      return matches(...given);
    };
    const from = (address: string) => ({ 'x-forwarded-for': address });
    const guesses = Array.from({ length: 8 }, (_, at) => guess(server, `n${at}`, from('192.0.2.1')));
    await eighth.promise;
    const refused = await guess(server, 'ann', from('192.0.2.1'));
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '2']);
    assert.match(refused.text, /Too many people sign in from your network just now. Try again in 2 seconds/);
    const fields = { name: 'ann', password: PASSWORD };
    const other = await openBrowser(server).post('/sign-in', fields, from('198.51.100.1'));
    assert.equal(other.status, 303);
    goOn.resolve();
    assert.deepEqual(
      (await Promise.all(guesses)).map(({ status }) => status),
      Array(8).fill(403),
    );
    const again = await openBrowser(server).post('/sign-in', fields, from('192.0.2.1'));
    assert.equal(again.status, 303, 'unchecked attempts do not count as wrong');
  });

  it('the server lets at most 64 passwords wait, of any number of networks', async () => {
    const server = await openServer({ publicUrl: 'https://svc.example.org', trustProxy: ['127.0.0.1'] });
    await setUpServer(server);
    const { passwords } = server.parts;
    const goOn = Promise.withResolvers<void>();
    const last = Promise.withResolvers<void>();
    let compared = 0;
    passwords.matches = async () => {
      compared += 1;
      if (compared === 64) last.resolve();
      await goOn.promise;
      return false;
    };
    const guessFrom = (at: number) => guess(server, `n${at}`, { 'x-forwarded-for': `192.0.2.${at}` });
    const guesses = Array.from({ length: 64 }, (_, at) => guessFrom(at));
    await last.promise;
    const refused = await guessFrom(64);
    assert.equal(refused.status, 429);
    assert.match(refused.text, /Too many people sign in just now/);
    goOn.resolve();
    for (const { status } of await Promise.all(guesses)) assert.equal(status, 403);
  });

  it('a change of the password cannot be used to guess it, and says when to try again', async () => {
    const server = await openServer();
    const ann = await setUpServer(server);
    const change = () => ann.post('/app/password', { old: 'wrong wrong', password: 'another long password' });
    for (let tries = 0; tries < 5; tries += 1) assert.equal((await change()).status, 403);
    const refused = await change();
    assert.equal(refused.status, 429);
    assert.equal(refused.headers.get('retry-after'), '15');
    assert.match(refused.text, /Try again in 15 seconds/);
  });

  it('unknown names are counted, and forgotten after a day', async () => {
    const server = await openServer();
    await setUpServer(server);
    const count = async () => (await server.parts.db.selectFrom('failures').selectAll().execute()).length;
    for (let made = 0; made < 5; made += 1) await guess(server, `nobody ${made}`);
    assert.equal(await count(), 5);
    server.clock.advance(DAY / 2);
    await guess(server, 'somebody');
    await server.parts.retention.clean();
    assert.equal(await count(), 6);
    server.clock.advance(DAY / 2 + 1);
    await server.parts.retention.clean();
    assert.equal(await count(), 1);
  });

  it('the addresses of one IPv6 network are one guesser, and another network is not', async () => {
    const server = await openServer({ publicUrl: 'https://svc.example.org', trustProxy: ['127.0.0.1'] });
    await setUpServer(server);
    const from = (address: string) => ({ 'x-forwarded-for': address });
    const answers = [];
    for (let host = 1; host <= 6; host += 1)
      answers.push(await guess(server, 'ann', from(`2001:db8:1:2::${host}`)));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [403, 403, 403, 403, 403, 429],
    );
    const fields = { name: 'ann', password: PASSWORD };
    const owner = await openBrowser(server).post('/sign-in', fields, from('2001:db8:1:3::1'));
    assert.equal(owner.status, 303);
  });
});
