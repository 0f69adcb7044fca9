import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { dialBoard } from '../../engine/fleet/machine/dial-board.ts';
import type { JoinedFleet } from '../../engine/fleet/machine/joined-fleet.ts';
import { sendLog } from '../../engine/fleet/machine/send-log.ts';
import { joinStreams, type LinkHandlers, openLink } from '../../engine/fleet/wire/index.ts';
import { HELLO } from '../engine/fleet/wire/peer.ts';

/** The other ends of the fleet's bench: over stdin and stdout `link`, `lines` and `bytes`, and over a broker `dial`. */

const CHUNK = Buffer.alloc(64 * 1024, 7);

const HANDLERS: LinkHandlers = {
  onCall: async (_, input) => input,
  onStream(name, data) {
    if (name !== 'log') return (stream) => void sendBytes(stream, Number(data));
    const { sessionId, from } = data as { sessionId: string; from: number };
    return (stream) => void sendLog(process.env.BENCH_LOGS ?? '', sessionId, from, stream);
  },
};

/** Answers calls, and sends as many bytes as a stream asks for. */
async function link(): Promise<void> {
  const opened = await openLink(joinStreams(process.stdin, process.stdout), HELLO, HANDLERS);
  await opened.ended;
  process.exit(0);
}

/** Echoes lines of JSON. */
function lines(): void {
  let rest = '';
  process.stdin.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts) process.stdout.write(`${JSON.stringify(JSON.parse(line))}\n`);
  });
}

async function sendBytes(to: NodeJS.WritableStream, total: number): Promise<void> {
  for (let sent = 0; sent < total; sent += CHUNK.length)
    if (!to.write(CHUNK)) await new Promise((resolve) => to.once('drain', resolve));
  to.end();
}

/** Does the same over a broker. */
function dial(file: string): void {
  const { fleet, joined } = JSON.parse(readFileSync(file, 'utf8')) as { fleet: string; joined: JoinedFleet };
  dialBoard({
    ...{ fleet, joined, handlers: HANDLERS, log: pino({ enabled: false }) },
    board: { attach: () => undefined },
    readLeaseMs: () => null,
    describe: async () => ({ boot: '', confinementProblem: null, agents: null, most: null, profile: 'none' }),
  });
}

const [program, bytes = ''] = process.argv.slice(2);
if (program === 'link') await link();
else if (program === 'lines') lines();
else if (program === 'dial') dial(bytes);
else if (program === 'bytes') await sendBytes(process.stdout, Number(bytes));
