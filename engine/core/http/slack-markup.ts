const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' };

/** A mention, or a link that Slack made of a number, an address or a name. Brackets that somebody typed are escaped. */
const MARKUP = /<([@#!]\w[^<>|]*|[a-z][a-z0-9+.-]*:[^<>|]+)(?:\|([^<>]*))?>/gi;

/** Reads a text that Slack has marked up, as it was typed: each mark and each escape once, so that a typed `&lt;` stays one. */
export const readSlackMarkup = (text: string): string =>
  text
    .replace(MARKUP, (_, target: string, label: string | undefined) => label || target)
    .replace(/&(?:amp|lt|gt);/g, (entity) => ENTITIES[entity] ?? entity);
