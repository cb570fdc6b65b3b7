//! What leads back to itself in a graph.

/// For each node of a graph, given by what it leads to, its group: two nodes have the same when
/// each leads to the other (the algorithm of Kosaraju and Sharir). Takes time in proportion to the
/// edges.
pub(crate) fn groups(ahead: &[Vec<usize>]) -> Vec<usize> {
    let mut back = vec![Vec::new(); ahead.len()];
    for (node, edges) in ahead.iter().enumerate() {
        for to in edges {
            back.get_mut(*to).into_iter().for_each(|it| it.push(node));
        }
    }
    let mut seen = vec![false; ahead.len()];
    let mut order = Vec::new();
    for node in 0..ahead.len() {
        order.extend(walk(node, ahead, &mut seen));
    }
    let mut seen = vec![false; back.len()];
    let mut groups = vec![0; back.len()];
    for root in order.into_iter().rev() {
        for node in walk(root, &back, &mut seen) {
            groups.get_mut(node).into_iter().for_each(|it| *it = root);
        }
    }
    groups
}

/// The nodes that one leads to and that were not seen before, each after those that it leads to.
fn walk(root: usize, edges: &[Vec<usize>], seen: &mut [bool]) -> Vec<usize> {
    let mut enter = |node: usize| {
        let seen = seen.get_mut(node)?;
        let is_new = !std::mem::replace(seen, true);
        is_new.then(|| (node, edges.get(node).map(Vec::as_slice).unwrap_or_default()))
    };
    let mut done = Vec::new();
    let mut open: Vec<_> = enter(root).into_iter().collect();
    while let Some((node, rest)) = open.last_mut() {
        if let Some((next, later)) = rest.split_first() {
            *rest = later;
            open.extend(enter(*next));
        } else {
            done.push(*node);
            open.pop();
        }
    }
    done
}
