const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' };

/** A mention, or a link that Slack made of a number, an address or a name. Typed brackets are escaped. */
const MARKUP = /<([@#!]\w[^<>|]*|[a-z][a-z0-9+.-]*:[^<>|]+)(?:\|([^<>]*))?>/gi;

/** Converts a text with Slack markup to its typed form: each mark and each escape once, so that a typed `&lt;` stays one. */
export const readSlackMarkup = (text: string): string =>
  text
    .replace(MARKUP, (_, target: string, label: string | undefined) => label || target)
    .replace(/&(?:amp|lt|gt);/g, (entity) => ENTITIES[entity] ?? entity);
