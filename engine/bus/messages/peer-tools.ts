import { z } from 'zod';
import { SvcError } from '../../errors.ts';
import type { Operation } from '../../operation.ts';
import { tool } from '../../tool.ts';
import type { Peer } from '../peers.ts';
import { given } from './address.ts';
import type { MessageToolDeps } from './tools.ts';

const name = z.string();
const rows = z.array(z.looseObject({}));

/** A session as agents see it. */
const entry = (peer: Peer) => ({
  session: peer.sessionId,
  seat: peer.seat,
  state: peer.state,
  agent: peer.agent,
  project: peer.project,
  worker: peer.workerId,
  task: peer.taskId,
  title: peer.title,
  since: peer.since === '' ? null : peer.since,
});

/** Who can be written to. */
export function peerTools({
  peers,
  family,
  addresses,
}: Pick<MessageToolDeps, 'peers' | 'family' | 'addresses'>): Operation[] {
  function known(text: string): Peer {
    const session = addresses.session(text.trim());
    const peer = addresses.peer(session);
    if (peer !== null) return peer;
    throw new SvcError('not_found', `no session ${session}`, { hint: 'msg_peers lists the live ones' });
  }

  return [
    tool({
      name: 'msg_peers',
      about: 'List the live sessions that can be written to, or find the session of a worker.',
      seat: 'any',
      changes: false,
      input: z.strictObject({
        session: name.optional().describe('Only those in the project of this session'),
        to_project: name.optional().describe('Only those in this project'),
        to_worker: name.optional().describe("This worker's session: the live one, else its last"),
      }),
      output: z.object({ peers: rows }),
      run(input) {
        const worker = given(input.to_worker);
        if (worker !== undefined) {
          const found = peers.ofWorker(worker);
          if (found === null) throw new SvcError('not_found', `no worker ${JSON.stringify(worker)}`);
          return { peers: [entry(found)] };
        }
        const project = given(input.to_project);
        const session = given(input.session);
        const of = session === undefined ? undefined : known(session).project;
        const wanted = project === undefined ? of : addresses.project(project);
        return {
          peers: peers
            .live()
            .filter((each) => wanted === undefined || each.project === wanted)
            .map(entry),
        };
      },
    }),
    tool({
      name: 'msg_roster',
      about: 'Who is above, beside and below a session: parent, siblings, children.',
      seat: 'any',
      changes: false,
      input: z.strictObject({ session: name.describe('s-12, chair-3, a plain session, chair') }),
      output: z.object({
        session: z.string(),
        parent: z.looseObject({}).nullable(),
        children: rows,
        siblings: rows,
      }),
      run(input) {
        const self = known(input.session);
        const above = family.parentOf(self);
        const parent = above === null ? null : addresses.peer(above);
        return {
          session: self.sessionId,
          parent: parent === null ? null : entry(parent),
          children: family.childrenOf(self).map(entry),
          siblings: family.siblingsOf(self).map(entry),
        };
      },
    }),
  ];
}
