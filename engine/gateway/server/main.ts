import { closeSync, readFileSync, writeSync } from 'node:fs';
import { asSvcError } from '../../core/base/errors.ts';
import { openLog } from '../../core/base/log.ts';
import { readProxies } from '../../core/http/proxies.ts';
import { readDataFolderId } from '../../core/workspace/data-folder.ts';
import { isStillRunning, readProcessStart } from '../../workers/runner/processes/own.ts';
import { readGatewayRecord, removeGatewayRecord, writeGatewayRecord } from '../record.ts';
import type { GatewayStart } from '../settings.ts';
import { openGateway } from './gateway.ts';

// The gateway's process. The engine starts it; it outlives the engine and ends when it is no longer needed. It loads
// only the modules that it serves with. Its settings arrive on standard input, and file descriptor 3 reports the
// start.

const READY_FD = 3;
const LOOK_MS = 1000;
/** Without an engine, a run or a request. */
const UNNEEDED_MS = 10 * 60_000;

async function startGateway(): Promise<void> {
  try {
    await runGateway(JSON.parse(readFileSync(0, 'utf8')) as GatewayStart);
  } catch (thrown) {
    const { code, message, hint } = asSvcError(thrown);
    sendToEngine({ code, message, ...(hint === undefined ? {} : { hint }) });
    process.exitCode = 1;
  }
}

async function runGateway(start: GatewayStart): Promise<void> {
  const { data, dataId, version } = start;
  const before = readGatewayRecord(data, dataId);
  const { log, close: closeLog } = openLog(data, 'gateway');
  const isAlone = before === null || !isStillRunning(before);
  const gateway = await openGateway({
    ...start,
    log,
    isAlone,
    proxies: readProxies(process.env),
  });
  const { host, port, token } = gateway;
  const startedAt = new Date().toISOString();
  writeGatewayRecord(data, {
    pid: process.pid,
    pidStart: readProcessStart(process.pid) ?? '',
    version,
    dataId,
    host,
    port,
    token,
    startedAt,
  });
  sendToEngine({ ready: true, host, port });
  log.info({ pid: process.pid, version, host, port }, 'gateway open');
  process.on('SIGTERM', () => void gateway.close());
  process.on('SIGINT', () => void gateway.close());
  const looking = setInterval(() => {
    if (isFolderGone(data, dataId)) process.exit(0);
    if (gateway.quietMs() > UNNEEDED_MS && !gateway.isNeeded()) void gateway.close();
  }, LOOK_MS);
  await gateway.closed;
  clearInterval(looking);
  removeGatewayRecord(data, dataId, token);
  log.info({ pid: process.pid }, 'gateway closed');
  closeLog();
}

/** Reports whether the data folder was removed or replaced: data written into it would be lost. */
function isFolderGone(data: string, dataId: string): boolean {
  try {
    return readDataFolderId(data) !== dataId;
  } catch {
    return true;
  }
}

function sendToEngine(said: object): void {
  try {
    writeSync(READY_FD, JSON.stringify(said));
    closeSync(READY_FD);
  } catch {
    // The waiting process has gone.
  }
}

void startGateway();
