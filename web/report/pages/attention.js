// The page of `inkling attention`.
by_id("sizes").textContent = `${page_data.tokens.length} tokens, ${page_data.layers} layers, ${page_data.heads} heads in each.`;
show_heads(page_data);
