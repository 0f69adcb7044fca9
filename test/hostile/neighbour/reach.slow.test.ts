import assert from 'node:assert/strict';
import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readDaemonRecord } from '../../../engine/index.ts';
import { hostile, ordinaryUser, runAs, type TestUser } from '../../support/hostile.ts';
import { isRunning } from '../../support/processes/processes.ts';
import { makeWorkspace } from '../../support/workspaces/workspace.ts';

/** A third user: neither root nor the test's other ordinary user. */
const neighbour: TestUser = { label: 'nobody', name: 'nobody', uid: 65534, gid: 65534, isRoot: false };
const isRoot = process.getuid?.() === 0;
const skip = isRoot ? null : 'only root can run programs as somebody else';

/** Reports for each attempt whether it succeeded: reading, writing, connecting, signalling. */
const ATTEMPTS = `
const { readFileSync, readdirSync, appendFileSync } = require('node:fs');
const { connect } = require('node:net');
const { root, data, socket, port, pid, home } = JSON.parse(process.argv[1]);
const tries = {
  list: () => readdirSync(data),
  token: () => readFileSync(data + '/daemon.json'),
  database: () => readFileSync(data + '/svc.db'),
  log: () => readdirSync(data + '/agents'),
  plant: () => appendFileSync(data + '/planted', 'x'),
  home: () => readdirSync(home),
  environment: () => readFileSync('/proc/' + pid + '/environ'),
  signal: () => process.kill(pid, 'SIGTERM'),
};
for (const [name, attempt] of Object.entries(tries)) {
  try { attempt(); console.log('GOT ' + name); } catch (error) { console.log('no ' + name + ' ' + error.code); }
}
const dial = (name, where) => new Promise((done) => {
  const line = connect(where);
  line.on('error', (error) => done(console.log('no ' + name + ' ' + error.code)));
  line.on('connect', () => { console.log('GOT ' + name); line.destroy(); done(); });
});
const ask = async (name, path, headers) => {
  const answer = await fetch('http://127.0.0.1:' + port + path, { method: 'POST', headers, body: '{}' });
  console.log((answer.status < 400 ? 'GOT ' : 'no ') + name + ' ' + answer.status);
};
(async () => {
  await dial('socket', { path: socket });
  await ask('mcp', '/mcp', { accept: 'application/json, text/event-stream', 'content-type': 'application/json' });
  await ask('health', '/healthz', {});
})();
`;

hostile(
  {
    attacker: 'neighbour',
    tries: 'read another user’s data folder, reach the socket or loopback servers, or signal the engine',
    lite: 'refused',
    strict: 'refused',
  },
  async () => {
    for (const owner of [undefined, ordinaryUser() ?? undefined]) {
      const ws = await makeWorkspace(owner === undefined ? {} : { user: owner });
      try {
        const up = await ws.program(['up']);
        assert.equal(up.code, 0, up.stderr);
        // The parent folders are open: svc's own files must protect themselves.
        for (const folder of [ws.repository.folder, ws.root]) chmodSync(folder, 0o755);
        const data = join(ws.root, '.svc');
        const record = readDaemonRecord(data);
        assert.ok(record);
        for (const name of ['daemon.json', 'svc.db', 'host.pid'])
          assert.equal(statSync(join(data, name)).mode & 0o077, 0, name);
        const aim = {
          root: ws.root,
          data,
          socket: record.socket,
          port: record.http.port,
          pid: record.pid,
          home: ws.env.SVC_HOME,
        };
        const { stdout, stderr } = await runAs(
          neighbour,
          [process.execPath, '-e', ATTEMPTS, JSON.stringify(aim)],
          {
            cwd: '/',
            env: { PATH: process.env.PATH },
          },
        );
        assert.match(stdout, /^no health/m, stderr);
        assert.doesNotMatch(stdout, /^GOT/m, `${owner?.label ?? 'root'}: ${stdout}`);
        assert.ok(isRunning(record.pid));
      } finally {
        await ws.close();
      }
    }
  },
  { skip },
);
