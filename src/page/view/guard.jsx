/* guard.jsx: an error in one view shows a message there, and leaves the other views usable.
 *
 * Without it an error in one view empties the whole page. The error is still thrown on the console,
 * where the tests look. */
import {Component} from 'preact';

export class Guard extends Component {
    constructor() {
        super();
        this.state = {error: null};
    }

    componentDidCatch(error) {
        console.error(error);
        this.setState({error});
    }

    render({children}, {error}) {
        return error === null ? children
            : <p class="empty" role="alert">This view cannot be shown, which is a mistake of
                heaptap's own: {error.message}. The other views are not concerned.</p>;
    }
}
