/** One protocol between the engine and a runner, over any connection: calls, notices and streams of bytes. */
export { joinStreams, pipeBoth } from './join-streams.ts';
export { type KeepLinkedOptions, keepLinked } from './keep-linked.ts';
export {
  type CallContext,
  FLEET_PROTOCOL,
  type Link,
  type LinkHandlers,
  type LinkHello,
  type LinkLane,
} from './link.ts';
export { isLinkLost } from './link-lost.ts';
export { type LinkOptions, openLink } from './open-link.ts';
