import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { findListeningSockets } from '../../../engine/core/platform/linux/sandbox/sockets.ts';
import { makeSandboxed } from '../../support/agents/sandboxed.ts';
import { impossible } from '../../support/agents/strict.ts';
import { asUsers, hostile } from '../../support/hostile.ts';

/** Reports for each socket whether a server answers. */
const CONNECT = `
for (const path of process.argv.slice(1)) {
  const socket = require("net").connect(path);
  socket.on("connect", () => { console.log("REACHED " + path); socket.destroy(); });
  socket.on("error", (error) => console.log("NOT " + path + " " + error.code));
}`;

for (const user of asUsers()) {
  hostile(
    {
      attacker: 'worker',
      tries: 'call a service by its socket, in any place',
      lite: 'not stopped',
      strict: 'refused, except abstract sockets',
    },
    async (t) => {
      const here = await makeSandboxed(user);
      t.after(here.repository.remove);
      // Sockets of a database, of a service in a project, with a blank in the name, below a visible folder.
      const folder = join(here.root, 'services');
      mkdirSync(folder);
      const own = join(here.worktree, 'own.sock');
      const sockets = [join(here.root, 'top.sock'), join(folder, 'db.sock'), join(folder, 'with blank.sock')];
      for (const path of [...sockets, own]) {
        const server = createServer((socket) => socket.end());
        await new Promise<void>((done) =>
          server.listen({ path, writableAll: true, readableAll: true }, done),
        );
        t.after(() => server.close());
      }
      const words = [...sockets, own].map((path) => `'${path}'`).join(' ');
      const log = await here.run(`'${process.execPath}' -e '${CONNECT}' ${words}`);
      const reached = log.split('\n').filter((line) => line.startsWith('REACHED '));
      assert.deepEqual(reached, [`REACHED ${own}`], log);
    },
    { skip: impossible },
  );
}

hostile(
  {
    attacker: 'worker',
    tries: 'read typed keys through an X server with an abstract socket',
    lite: 'not stopped',
    strict: 'not stopped, and doctor names it',
  },
  () => {
    const table = [
      'Num       RefCount Protocol Flags    Type St Inode Path',
      '0000000000000000: 00000002 00000000 00010000 0001 01 16543 @/tmp/.X11-unix/X0',
      '0000000000000000: 00000003 00000000 00000000 0001 03 16544 @/tmp/.X11-unix/X1',
      '0000000000000000: 00000002 00000000 00010000 0001 01 16545 /nowhere/at/all.sock',
    ].join('\n');
    assert.deepEqual(findListeningSockets(table), { files: [], abstract: ['@/tmp/.X11-unix/X0'] });
  },
);
