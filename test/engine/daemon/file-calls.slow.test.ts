import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { isInsideFolder } from '../../../engine/core/base/paths.ts';
import { httpClient, type McpClient, stdioClient } from '../../support/agents/mcp.ts';
import { listFileCalls, withStrace } from '../../support/processes/file-calls.ts';
import { until } from '../../support/wait.ts';
import { hasAheadFiles } from '../../support/workspaces/ahead-files.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

const CALLS = 100;
/** Each is far from what an engine does by itself within these calls, and from one access a call. */
const HALF = CALLS / 2;

/** The search for orphans to reap, once a second. */
const isReaping = (path: string): boolean => path.startsWith('/proc/self/task');

/** The engine's compiled code, which is kept two seconds after its start. */
const isKeptCode = (path: string): boolean => /\/daemon\.[\w-]+\.js(?:\.\d+)?$/.test(path);

/** Questions that agents ask often, and hooks at every write. */
const QUESTIONS = ['task_list', 'msg_inbox', 'ask_list', 'lock_check'] as const;

describe('files that an answer needs', withStrace, () => {
  let ws: TestWorkspace;
  let stdio: McpClient;
  let http: McpClient;
  before(async () => {
    ws = await makeWorkspace();
    const engine = await ws.connect();
    await engine.call('task.add', { title: 'one task' });
    // While a task waits.
    await until(() => hasAheadFiles(ws.root), 'the files of its worktree');
    stdio = await stdioClient(ws);
    http = await httpClient(ws);
  });
  after(async () => {
    await stdio?.close();
    await http?.close();
    await ws.close();
  });

  for (const tool of QUESTIONS) {
    for (const face of ['stdio', 'HTTP'] as const) {
      it(`an answer to ${tool} over ${face} looks once at svc.yaml and its consents, and at no file that it does not name`, async () => {
        const client = face === 'stdio' ? stdio : http;
        const lock = { holder: 'me', path: `app/${face}.txt` };
        if (tool === 'lock_check') await client.call('lock_acquire', lock);
        const input = tool === 'lock_check' ? lock : {};
        const pids = [ws.daemonPid() ?? 0, ...(client.pid === null ? [] : [client.pid])];
        // The first answers may load what later ones use, and each connection's process is looked up once.
        for (let call = 0; call < 20; call += 1) await client.callByName(tool, input);
        const paths = await listFileCalls(pids, async () => {
          for (let call = 0; call < CALLS; call += 1) await client.callByName(tool, input);
        });
        const watched = [join(ws.root, 'svc.yaml'), join(ws.repository.folder, 'home', 'consents')];
        for (const path of watched) {
          const looks = paths.filter((each) => each.startsWith(path)).length;
          assert.ok(looks >= CALLS, `${path}: ${looks} looks in ${CALLS} calls`);
          assert.ok(looks < CALLS + HALF, `${path}: ${looks} looks in ${CALLS} calls`);
        }
        // The links of a path are resolved at each call, since a worker may replace a folder by one.
        const ways =
          tool === 'lock_check'
            ? [join(ws.root, lock.path), join(ws.root, '.svc', 'agents', 'worktrees')]
            : [];
        const others = paths.filter(
          (path) =>
            !isReaping(path) &&
            !isKeptCode(path) &&
            !watched.some((each) => path.startsWith(each)) &&
            !ways.some((way) => isInsideFolder(path, way)),
        );
        assert.ok(
          others.length < HALF,
          `${others.length} more in ${CALLS} calls: ${[...new Set(others)].join(', ')}`,
        );
      });
    }
  }
});
