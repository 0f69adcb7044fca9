import { z } from 'zod';
import { type Caller, maySeeTask, ownWorkError, toWire } from '../../core/api/operation.ts';
import { tool, UNLISTED } from '../../core/api/tool.ts';
import { SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import { toPrintable } from '../../core/base/text.ts';
import { maskedAddress } from '../../core/http/shown-address.ts';
import { isOwnSeat, type SessionPeer } from '../../workers/sessions/index.ts';
import { readName } from './address.ts';
import type { MessageToolDeps } from './tools.ts';

const name = z.string();

/** A session as agents see it. */
const peerOutput = z.object({
  session: z.string(),
  seat: z.string(),
  state: z.string(),
  agent: z.string().nullable(),
  project: z.string().nullable(),
  name: z.string().nullable(),
  task: z.string().nullable(),
  title: z.string().nullable(),
  since: z.string(),
});
const names = { session_id: 'session', worker_id: 'name', task_id: 'task' } as const;
const peerRows = z.array(peerOutput.meta(UNLISTED));
type PeerEntry = z.infer<typeof peerOutput>;

/** A session in wire form. An address may contain a secret, so clients get it masked. */
const toPeerEntry = (peer: SessionPeer) =>
  toWire({ ...peer, notifyBase: peer.notifyBase === null ? null : maskedAddress(peer.notifyBase) });

const sayPeer = ({ session, seat, state, agent, project, name, task, title }: PeerEntry): string =>
  [
    `${session} ${seat}`,
    ...(state === 'live' ? [] : [state]),
    ...[agent, project, name, task].filter((each) => each !== null),
    ...(title === null ? [] : [JSON.stringify(toPrintable(title))]),
  ].join(' ');

/** The tools that list possible recipients. */
export function peerTools({
  peers,
  family,
  addresses,
}: Pick<MessageToolDeps, 'peers' | 'family' | 'addresses'>) {
  /** Throws `not_found`, and `holder_mismatch` if a caller without a session means itself. */
  function resolvePeer(text: string, caller: Caller): SessionPeer {
    const named = isOwnSeat(text, caller) ? addresses.acting(caller, undefined) : text.trim();
    const session = addresses.session(named ?? text.trim());
    return addresses.peer(session) ?? peers.known(session);
  }

  /** A worker on a task from an untrusted author sees the Chairs, which it writes to, and the sessions of that task. */
  const maySeePeer = (peer: SessionPeer, caller: Caller): boolean =>
    peer.seat === 'chair' || maySeeTask(caller, peer.taskId);

  const listSeen = (found: readonly SessionPeer[], caller: Caller) =>
    found.filter((peer) => maySeePeer(peer, caller)).map(toPeerEntry);

  return [
    tool({
      name: 'msg.peers',
      about: 'List the live sessions that can receive messages, or find the session of a worker.',
      seat: 'any',
      changes: false,
      input: z.strictObject({
        session: name.optional().describe('Only those in the project of this session'),
        to_project: name.optional().describe('Only those in this project'),
        to_worker: name.optional().describe("This worker's session: the live one, otherwise its last"),
      }),
      output: z.object({ peers: peerRows }),
      names,
      say: ({ peers: found }) => (found.length === 0 ? 'no live sessions' : found.map(sayPeer).join('\n')),
      run(input, caller) {
        const worker = readName(input.to_worker);
        if (worker !== undefined) {
          const found = peers.ofWorker(worker);
          if (found === null)
            throw new SvcError('not_found', `no worker ${JSON.stringify(worker)}`, {
              hint: sentence`{msg.peers} lists the live sessions with their workers`,
            });
          return { peers: listSeen([found], caller) };
        }
        const project = readName(input.to_project);
        const session = readName(input.session);
        const of = session === undefined ? undefined : resolvePeer(session, caller).project;
        const wanted = project === undefined ? of : addresses.project(project);
        return {
          peers: listSeen(
            peers.live().filter((each) => wanted === undefined || each.project === wanted),
            caller,
          ),
        };
      },
    }),
    tool({
      name: 'msg.roster',
      about: 'The parent, siblings and children of a session.',
      seat: 'any',
      changes: false,
      input: z.strictObject({ session: name.describe('e.g. s-12, chair, me') }),
      output: z.object({
        session: z.string(),
        parent: peerOutput.nullable(),
        children: peerRows,
        siblings: peerRows,
      }),
      names,
      say({ session, parent, children, siblings }) {
        const formatPeers = (some: readonly PeerEntry[]): string => some.map(sayPeer).join('; ') || 'none';
        return [
          `${session}`,
          `parent: ${formatPeers(parent === null ? [] : [parent])}`,
          `children: ${formatPeers(children)}`,
          `siblings: ${formatPeers(siblings)}`,
        ].join('\n');
      },
      run(input, caller) {
        const self = resolvePeer(input.session, caller);
        if (!maySeePeer(self, caller)) throw ownWorkError(self.sessionId, caller);
        const above = family.parentOf(self);
        const parent = above === null ? null : addresses.peer(above);
        return {
          session: self.sessionId,
          parent: parent === null ? null : (listSeen([parent], caller)[0] ?? null),
          children: listSeen(family.childrenOf(self), caller),
          siblings: listSeen(family.siblingsOf(self), caller),
        };
      },
    }),
  ];
}
