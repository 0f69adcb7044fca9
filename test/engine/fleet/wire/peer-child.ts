import { joinStreams, openLink } from '../../../../engine/fleet/wire/index.ts';
import { HELLO, makePeer } from './peer.ts';

// A process at the other end of a link over its stdin and stdout. Its argument are the options of the link.

const connection = joinStreams(process.stdin, process.stdout);
const peer = makePeer();
openLink(connection, HELLO, peer.handlers, JSON.parse(process.argv[2] ?? '{}')).then(
  async (link) => {
    await link.ended;
    process.exit(0);
  },
  () => process.exit(1),
);
